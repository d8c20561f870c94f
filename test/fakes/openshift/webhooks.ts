/** The configurations of the webhooks of Machines and MachineSets, which the operator of the Machine API creates: pkg/webhooks/config.go there. */
import { LOOPBACK } from '../../../hack/controlplane/layout.ts';

const REGISTRATION = 'admissionregistration.k8s.io/v1';

/** The configurations of a server at this port of loopback. A request fails if the server does; OpenShift ignores such failures, which would hide them in tests. */
export function webhookConfigurations(port: number, cert: string) {
  const configuration = (kind: string, name: string, operations: readonly string[]) => ({
    apiVersion: REGISTRATION,
    kind,
    metadata: { name: 'machine-api' },
    webhooks: ['machine', 'machineset'].map((resource) => ({
      name: `${name}.${resource}.machine.openshift.io`,
      admissionReviewVersions: ['v1'],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      clientConfig: {
        url: `https://${LOOPBACK}:${port}/${name === 'default' ? 'mutate' : 'validate'}-machine-openshift-io-v1beta1-${resource}`,
        caBundle: Buffer.from(cert).toString('base64'),
      },
      rules: [
        { apiGroups: ['machine.openshift.io'], apiVersions: ['v1beta1'], resources: [`${resource}s`], operations },
      ],
    })),
  });
  return [
    configuration('MutatingWebhookConfiguration', 'default', ['CREATE']),
    configuration('ValidatingWebhookConfiguration', 'validation', ['CREATE', 'UPDATE']),
  ];
}
