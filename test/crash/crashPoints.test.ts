import assert from 'node:assert/strict';
import fc from 'fast-check';
import { distinctPoints, kindOf, MOMENTS, type Recording, samplePoints } from './crashPoints.ts';

const never = () => false;

/** Requests of these kinds, as many of each as given. */
function requestsOf(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => `${kind} #${index + 1}`),
  );
}

function recording(phase: string, counts: Readonly<Record<string, number>>): Recording {
  return { phase, requests: { before: requestsOf(counts), after: requestsOf(counts) } };
}

const recordings: fc.Arbitrary<readonly Recording[]> = fc
  .array(
    fc.dictionary(
      fc.constantFrom('GET pools', 'PUT status', 'Create', 'Delete', 'Tag'),
      fc.integer({ min: 1, max: 5 }),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((phases) => phases.map((counts, index) => recording(`phase ${index}`, counts)));

describe('the sample of crash points', () => {
  it('has one point for each kind of request and phase, and both moments for a kind of only one phase', () => {
    const given = [recording('create', { Create: 1, Tag: 3 }), recording('delete', { Tag: 4, Delete: 1 })];
    assert.deepEqual(Object.fromEntries(samplePoints(given, never)), {
      create: [
        { request: 'Create #1', moment: 'before' },
        { request: 'Create #1', moment: 'after' },
        { request: 'Tag #2', moment: 'after' },
      ],
      delete: [
        { request: 'Tag #3', moment: 'before' },
        { request: 'Delete #1', moment: 'before' },
        { request: 'Delete #1', moment: 'after' },
      ],
    });
  });

  it('uses the first read of a kind, and the first write of a kind whose number varies', () => {
    const points = samplePoints([recording('create', { DescribeCluster: 5, Tag: 5 })], (request) =>
      /^Tag/.test(request),
    );
    assert.deepEqual(
      new Set(points.get('create')?.map(({ request }) => request)),
      new Set(['DescribeCluster #1', 'Tag #1']),
    );
  });

  it('omits a moment at which a phase has no such request', () => {
    const given: Recording = { phase: 'read', requests: { before: ['Get #1'], after: [] } };
    assert.deepEqual(samplePoints([given], never).get('read'), [{ request: 'Get #1', moment: 'before' }]);
  });

  it('covers each kind of each phase, each kind at both moments, and only recorded requests', () => {
    fc.assert(
      fc.property(recordings, (given) => {
        const points = samplePoints(given, never);
        for (const { phase, requests } of given) {
          const chosen = points.get(phase) ?? [];
          assert.deepEqual(new Set(chosen.map(({ request }) => kindOf(request))), new Set(requests.before.map(kindOf)));
          assert.ok(chosen.every(({ request, moment }) => requests[moment].includes(request)));
        }
        const all = [...points.values()].flat();
        for (const kind of new Set(all.map(({ request }) => kindOf(request)))) {
          const moments = all.filter(({ request }) => kindOf(request) === kind).map(({ moment }) => moment);
          assert.deepEqual(new Set(moments), new Set(MOMENTS), kind);
        }
      }),
    );
  });

  it('is deterministic', () => {
    fc.assert(
      fc.property(recordings, (given) => assert.deepEqual(samplePoints(given, never), samplePoints(given, never))),
    );
  });
});

describe('the points at which kills leave different states', () => {
  const requests = [
    { request: 'GET pools #1', at: 0 },
    { request: 'DescribeNodegroup #1', at: 0 },
    { request: 'PUT status #1', at: 0 },
    { request: 'CreateNodegroup #1', at: 0 },
    { request: 'GET pools #2', at: 0 },
    { request: 'DescribeNodegroup #2', at: 20 },
    { request: 'DescribeUpdate #1', at: 20 },
  ];

  it('before a request are those after a write or after some time', () => {
    const distinct = ['GET pools #1', 'CreateNodegroup #1', 'GET pools #2', 'DescribeNodegroup #2'];
    assert.deepEqual(distinctPoints(requests, 'before'), distinct);
  });

  it('after a request are the writes', () => {
    assert.deepEqual(distinctPoints(requests, 'after'), ['PUT status #1', 'CreateNodegroup #1']);
  });
});
