/** The permissions that the operators of some suites needed, in a file for each process, so that a last suite can check all of them. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OPERATOR_AGENT, ofOperator, readAudit } from '../../test/fakes/testenv/audit.ts';
import type { Request } from '../../test/fakes/testenv/grants.ts';
import type { TestEnv } from '../../test/fakes/testenv/testEnv.ts';

export interface Usage {
  /** Requests to the API server, each kind once. */
  readonly requests: readonly Request[];
  readonly aws: {
    /** Statements of the policy that no call needed. */
    readonly unneeded: readonly string[];
    /** Calls that the policy does not allow. */
    readonly refusals: readonly string[];
  };
}

/** The permissions that the operators of this test environment needed so far. */
export async function usageOf({ controlPlane, cloud }: TestEnv): Promise<Usage> {
  const events = ofOperator(await readAudit(controlPlane.auditLog, OPERATOR_AGENT));
  const requests = new Map<string, Request>();
  for (const { verb, objectRef, responseStatus } of events) {
    const { apiGroup, resource, subresource, name, namespace } = objectRef ?? {};
    const request: Request = {
      verb,
      objectRef: JSON.parse(JSON.stringify({ apiGroup, resource, subresource, name, namespace })),
      responseStatus: { code: responseStatus?.code ?? 0 },
    };
    requests.set(JSON.stringify(request), request);
  }
  return {
    requests: [...requests.values()],
    aws: { unneeded: cloud.policy.unneeded(), refusals: cloud.policy.refusals() },
  };
}

/** Combines them: a permission is needed if one process needed it, and a denial counts if one process had it. */
export function mergeUsage(usages: readonly Usage[]): Usage {
  const [first, ...others] = usages;
  return {
    requests: usages.flatMap(({ requests }) => requests),
    aws: {
      unneeded: (first?.aws.unneeded ?? []).filter((each) => others.every(({ aws }) => aws.unneeded.includes(each))),
      refusals: [...new Set(usages.flatMap(({ aws }) => aws.refusals))],
    },
  };
}

export async function writeUsage(path: string, usage: Usage): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(usage));
}

/** The usage of all files of a folder. Throws when there is none. */
export async function readUsage(folder: string): Promise<Usage> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  if (names.length === 0) throw new Error(`${folder} is empty: no process of the cluster suites wrote what it used.`);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return mergeUsage(texts.map((text) => JSON.parse(text)));
}
