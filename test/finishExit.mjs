/**
 * Lets the processes of Mocha write their coverage. Mocha sends SIGTERM to a process that has not ended one second after its last
 * test (`workerTerminateTimeout` of workerpool, which Mocha does not let us set), and a busy machine needs longer to write it.
 */
if (process.env.MOCHA_WORKER_ID !== undefined) process.on('SIGTERM', () => {});
