/** What an exit code of Windows means. Programs have their own codes below 256. */
export interface KnownExitCode {
  /** The NTSTATUS, as in the documentation: an exit code can also be shown as a negative number. */
  readonly code: number;
  readonly name: string;
  /** What the process did: the rest of a sentence. */
  readonly cause: string;
  readonly remedy: string;
}

/** https://learn.microsoft.com/openspecs/windows_protocols/ms-erref/596a1078-e883-4972-9bbc-49e60bebca55 */
export const KNOWN_EXIT_CODES: readonly KnownExitCode[] = [
  {
    code: 0xc0000005,
    name: 'STATUS_ACCESS_VIOLATION',
    cause: 'crashed with an access violation',
    remedy: 'This is an error of the program, or of a library that does not fit the image.',
  },
  {
    code: 0xc0000135,
    name: 'STATUS_DLL_NOT_FOUND',
    cause: 'did not find a DLL',
    remedy:
      'Install what the program needs in the image, such as the Visual C++ runtime. nanoserver lacks many DLLs that servercore has.',
  },
  {
    code: 0xc0000139,
    name: 'STATUS_ENTRYPOINT_NOT_FOUND',
    cause: 'found a DLL of another version than it needs',
    remedy: 'Use a base image with the version that the program was built for.',
  },
  {
    code: 0xc000007b,
    name: 'STATUS_INVALID_IMAGE_FORMAT',
    cause: 'is not a program for this system, or one of its DLLs is not',
    remedy: 'Compare the architecture of the program and its DLLs. nanoserver runs no 32-bit programs.',
  },
  {
    code: 0xc0000142,
    name: 'STATUS_DLL_INIT_FAILED',
    cause: 'ended while a DLL was initialized',
    remedy: 'If many processes run on the node, its desktop heap can be full: run fewer pods on each node.',
  },
  {
    code: 0xc0000017,
    name: 'STATUS_NO_MEMORY',
    cause: 'got no memory',
    remedy: 'Raise the memory limit of the container.',
  },
  {
    code: 0xc000012d,
    name: 'STATUS_COMMITMENT_LIMIT',
    cause: 'got no memory, because the commit limit was reached',
    remedy: 'Raise the memory limit of the container, or use larger instance types.',
  },
  {
    code: 0xc00000fd,
    name: 'STATUS_STACK_OVERFLOW',
    cause: 'crashed with a stack overflow',
    remedy: 'This is an error of the program, such as a recursion without an end.',
  },
  {
    code: 0xc0000374,
    name: 'STATUS_HEAP_CORRUPTION',
    cause: 'damaged its heap',
    remedy: 'This is an error of the program or of one of its libraries.',
  },
  {
    code: 0xc000001d,
    name: 'STATUS_ILLEGAL_INSTRUCTION',
    cause: 'used an instruction that the CPU does not have',
    remedy:
      'If it runs on other instance types, it needs their CPU, such as one with AVX2 or AVX-512. Otherwise, it is an error of the program.',
  },
  {
    code: 0xc0000409,
    name: 'STATUS_STACK_BUFFER_OVERRUN',
    cause: 'ended itself after an internal error (fail fast)',
    remedy: 'This is an error of the program: read its log.',
  },
  {
    code: 0xc0000022,
    name: 'STATUS_ACCESS_DENIED',
    cause: 'was denied access to a file or an object',
    remedy: 'Check the permissions of ContainerUser, or of the user in runAsUserName, in the image and in volumes.',
  },
  {
    code: 0xc000013a,
    name: 'STATUS_CONTROL_C_EXIT',
    cause: 'was stopped with Ctrl-C',
    remedy:
      'This is how containers are stopped. Look at why the pod was deleted or restarted, such as a liveness probe.',
  },
  {
    code: 0x40010004,
    name: 'DBG_TERMINATE_PROCESS',
    cause: 'was terminated by the system',
    remedy: 'This is how a container is stopped when the node shuts down, or after its grace period.',
  },
  {
    code: 0x80008096,
    name: '.NET FrameworkMissingFailure',
    cause: 'did not find the .NET runtime that it needs',
    remedy: 'Use a base image with that version of the runtime. The log of the container has the name and the version.',
  },
  {
    code: 0xe0434352,
    name: '.NET exception',
    cause: 'ended with an unhandled .NET exception',
    remedy: 'Read the log of the container, which has the exception.',
  },
];
