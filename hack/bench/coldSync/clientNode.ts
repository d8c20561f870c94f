/** The informer of @kubernetes/client-node on the same nodes. It has no transform: it keeps whole objects. */
import { CoreV1Api, KubeConfig, makeInformer, type V1Node } from '@kubernetes/client-node';
import { printSynced, readArguments } from './program.ts';

const { kubeconfig, selector, started } = readArguments();
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const api = config.makeApiClient(CoreV1Api);
const list = () => api.listNode({ labelSelector: selector });
const informer = makeInformer<V1Node>(config, '/api/v1/nodes', list, selector);
// Resolves after the first list; nothing else shows that it is synced.
await informer.start();
printSynced(started, informer.list().length);
// Its stop emits an error if a watch runs, and an unhandled one would exit with the wrong status.
process.exit(0);
