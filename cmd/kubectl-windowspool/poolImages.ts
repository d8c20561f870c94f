/** The images that a pool runs on its nodes. Pure. */
import { buildOf, type WindowsVersion } from '../../controllers/windowspool/nodes/windowsVersions.ts';

/** The fields of a WindowsPool that are read. A manifest can have other types. */
interface PoolFields {
  readonly kind?: unknown;
  readonly spec?: {
    readonly windowsVersion?: WindowsVersion;
    readonly runtimeClass?: { readonly handler?: unknown };
    readonly verification?: { readonly requiredImages?: unknown; readonly smokeTest?: { readonly image?: unknown } };
  };
}

/** The images of a WindowsPool as containers of a pod spec, named by their fields, and the build of its nodes; undefined if it has none. */
export function poolImagesIn(manifest: object): { readonly spec: object; readonly build: string } | undefined {
  const { kind, spec } = manifest as PoolFields;
  if (kind !== 'WindowsPool' || !spec) return undefined;
  const { windowsVersion, runtimeClass, verification } = spec;
  const build: unknown = windowsVersion && buildOf(windowsVersion);
  const required = Array.isArray(verification?.requiredImages) ? verification.requiredImages : [];
  // With Hyper-V isolation, pods may need images of every build. The pod of the smoke test has process isolation.
  const isHyperV = runtimeClass?.handler === 'runhcs-wcow-hypervisor';
  const images = [
    ...(isHyperV ? [] : required.map((image: unknown, index) => [`requiredImages[${index}]`, image] as const)),
    ['smokeTest.image', verification?.smokeTest?.image] as const,
  ];
  const containers = images.flatMap(([name, image]) => (typeof image === 'string' ? [{ name, image }] : []));
  return typeof build === 'string' && build !== '' && containers.length > 0
    ? { spec: { containers }, build }
    : undefined;
}
