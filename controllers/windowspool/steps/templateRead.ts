/** The name of the read of the pool's launch template among errors. Unlike other reads, the pool cannot be reconciled without it. */
export const TEMPLATE_READ = 'describeLaunchTemplate';
