/** The informer of @kubernetes/client-node on Nodes as a program, for comparison: prints one line when it is synced. It keeps whole objects. */

import { parseArgs } from 'node:util';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { memoryOf } from '../processFigures.ts';
import type { Synced } from './ours.ts';

const text = { type: 'string', default: '' } as const;
const { values } = parseArgs({ options: { kubeconfig: text, selector: text, started: text } });
const config = new KubeConfig();
config.loadFromFile(values.kubeconfig);
const api = config.makeApiClient(CoreV1Api);
const list = () => api.listNode({ labelSelector: values.selector });
const informer = makeInformer(config, '/api/v1/nodes', list, values.selector);
await informer.start();
const ms = performance.timeOrigin + performance.now() - Number(values.started);
const { user, system } = process.cpuUsage();
const { peakKiB } = memoryOf('self');
const synced: Synced = { ms, cpuMs: (user + system) / 1_000, peakKiB, items: informer.list().length };
console.log(JSON.stringify(synced));
process.exit();
