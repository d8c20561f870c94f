import assert from 'node:assert/strict';
import { redact, redactText } from './redact.ts';

describe('what a report leaves out', () => {
  const texts: readonly (readonly [text: string, redacted: string])[] = [
    ['key AKIAIOSFODNN7EXAMPLE is old', 'key REDACTED is old'],
    ['Bearer abcdefgh.ijkl', 'Bearer REDACTED'],
    ['eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl', 'REDACTED'],
    ['k8s-aws-v1.aHR0cHM6Ly9zdHM', 'REDACTED'],
    ['https://user:pass@proxy.example:3128', 'https://REDACTED@proxy.example:3128'],
    ['{"password":"a b","user":"me"}', '{"password":REDACTED,"user":"me"}'],
    ['--registry-token=abc --cluster-name=prod', '--registry-token=REDACTED --cluster-name=prod'],
    ['--api-key=abc --client-secret s3cr3t-A --v=1', '--api-key=REDACTED --client-secret REDACTED --v=1'],
    ['["--client-secret","s3cr3t-A","--v=1"]', '["--client-secret",REDACTED,"--v=1"]'],
    ['args:\n- --client-secret\n- s3cr3t-A\n- x', 'args:\n- --client-secret\n- REDACTED\n- x'],
    ['--use-token --v=1', '--use-token --v=1'],
    ['AWS_SECRET_ACCESS_KEY=abc/d DB_PASS=x', 'AWS_SECRET_ACCESS_KEY=REDACTED DB_PASS=REDACTED'],
    ['{"msg":"{\\"password\\":\\"a b\\",\\"x\\":1}"}', '{"msg":"{\\"password\\":REDACTED,\\"x\\":1}"}'],
    ['{"password":"a\\"b","x":1}', '{"password":REDACTED,"x":1}'],
    [
      '{"tokens":1,"password":["a","b"],"secret":{"name":"db"}}',
      '{"tokens":1,"password":REDACTED,"secret":{"name":"db"}}',
    ],
    ['password={bcrypt}abc', 'password=REDACTED'],
    ['password: "a b', 'password: REDACTED'],
    ['authorization: bearer abcdefgh.ijkl', 'authorization: bearer REDACTED'],
    ['https://ghp_x@github.com/a', 'https://REDACTED@github.com/a'],
    ['redis://:p@w@host', 'redis://REDACTED@host'],
    ['docker-pullable://nginx@sha256:abc', 'docker-pullable://nginx@sha256:abc'],
    ['?X-Amz-Date=1&X-Amz-Signature=0a1b&x=1', '?X-Amz-Date=1&X-Amz-Signature=REDACTED&x=1'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', 'REDACTED'],
    ['arn:aws:iam::111122223333:role/windows-nodes', 'arn:aws:iam::111122223333:role/windows-nodes'],
    ['The client request token is derived from the pool.', 'The client request token is derived from the pool.'],
  ];
  for (const [text, expected] of texts) it(`in the text ${text}`, () => assert.equal(redactText(text), expected));

  it('in objects: values of variables, fields of secrets, unknown annotations, and managed fields', () => {
    const before = {
      metadata: {
        name: 'x',
        managedFields: [{}],
        annotations: {
          'winpool.dev/replace': 'true',
          'node.alpha.kubernetes.io/ttl': '0',
          'example.com/anything': 'hunter2',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
        },
      },
      env: [
        { name: 'A', value: 'hunter2' },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
      ],
      args: ['--token=hunter2', '--v=1', '--client-secret', 'hunter2', '--enable-token', '--v=2'],
      httpGet: { httpHeaders: [{ name: 'X-Auth', value: 'hunter2' }] },
      api_key: 12345,
      passphrase: ['hunter2'],
      volumes: [{ secret: { secretName: 'db' } }],
      clientToken: 'hunter2',
      replicas: 2,
      empty: null,
    };
    assert.deepEqual(redact(before), {
      metadata: {
        name: 'x',
        annotations: {
          'winpool.dev/replace': 'true',
          'node.alpha.kubernetes.io/ttl': '0',
          'example.com/anything': 'REDACTED',
        },
      },
      env: [
        { name: 'A', value: 'REDACTED' },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
      ],
      args: ['--token=REDACTED', '--v=1', '--client-secret', 'REDACTED', '--enable-token', '--v=2'],
      httpGet: { httpHeaders: [{ name: 'X-Auth', value: 'REDACTED' }] },
      api_key: 'REDACTED',
      passphrase: ['REDACTED'],
      volumes: [{ secret: { secretName: 'db' } }],
      clientToken: 'REDACTED',
      replicas: 2,
      empty: null,
    });
  });
});
