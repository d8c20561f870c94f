import assert from 'node:assert/strict';
import { normalizedImage } from './imageNames.ts';

describe('the name of an image in the status of a node', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const cases: readonly [reference: string, name: string][] = [
    ['mcr.microsoft.com/windows/nanoserver:ltsc2022', 'mcr.microsoft.com/windows/nanoserver:ltsc2022'],
    ['mcr.microsoft.com/windows/nanoserver', 'mcr.microsoft.com/windows/nanoserver:latest'],
    ['nginx', 'docker.io/library/nginx:latest'],
    ['nginx:1.29', 'docker.io/library/nginx:1.29'],
    ['stefanscherer/whoami', 'docker.io/stefanscherer/whoami:latest'],
    ['docker.io/nginx', 'docker.io/library/nginx:latest'],
    ['docker.io/stefanscherer/whoami:1', 'docker.io/stefanscherer/whoami:1'],
    [`index.docker.io/nginx@${digest}`, `docker.io/library/nginx@${digest}`],
    ['localhost/app:1', 'localhost/app:1'],
    ['registry:5000/app', 'registry:5000/app:latest'],
    [`example.com/app@${digest}`, `example.com/app@${digest}`],
    [`example.com:8443/team/app:1.2@${digest}`, `example.com:8443/team/app@${digest}`],
  ];
  for (const [reference, name] of cases)
    it(`of ${reference} is ${name}`, () => assert.equal(normalizedImage(reference), name));
});
