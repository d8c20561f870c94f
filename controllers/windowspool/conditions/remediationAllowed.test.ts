import { outcomeOf } from '../testing/fixtures.ts';
import { type Brief, textTable } from '../testing/goldenTexts.ts';
import { failingScene } from '../testing/nodeScenes.ts';
import { evaluateConditions } from './evaluateConditions.ts';

const check = textTable('conditions/RemediationAllowed');

const failing = (count: number, policy: 'Report' | 'Replace') =>
  failingScene({ policy, unhealthyAfter: '15m', maxUnhealthy: '40%' }, count);

describe('RemediationAllowed', () => {
  const TOO_MANY: Brief = ['False TooManyUnhealthy', '2 nodes', 'remediation.maxUnhealthy', '40%', 'NodesVerified'];
  const table = [
    ['is absent while as many nodes fail as maxUnhealthy allows', failing(1, 'Replace'), undefined],
    ['is False while more nodes fail, and none is replaced', failing(2, 'Replace'), TOO_MANY],
    ['is False while more nodes fail, so that no user replaces them', failing(2, 'Report'), TOO_MANY],
  ] as const;
  for (const [name, observed, want] of table) {
    const texts = () => {
      const { RemediationAllowed: found } = evaluateConditions(outcomeOf(observed));
      return found ? [`${found.status} ${found.reason}: ${found.message}`] : [];
    };
    check(name, texts, want ? [want] : []);
  }
});
