"""The system calls that a box may make, enforced by the kernel's seccomp filter through libseccomp."""

from __future__ import annotations

import ctypes
import errno

LIBRARY = "libseccomp.so.2"

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NOT_EQUAL, _MASKED_EQUAL = 1, 7
_CLONE_THREAD = 0x00010000
_PROT_WRITE, _PROT_EXEC, _MAP_ANONYMOUS = 2, 4, 0x20
_PR_SET_NAME = 15
_AF_UNIX = 1

DECODING = (
    "read", "write", "readv", "writev", "pread64", "lseek", "close", "brk", "munmap", "mremap", "madvise",
    "futex", "futex_waitv", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "getrandom",
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
    "getpid", "gettid", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "exit", "exit_group", "arch_prctl",
)  # fmt: skip
"""Calls of a decoder on the CPU: memory, threads, clocks and descriptors that are open already."""

PROGRAM = (
    "execve", "execveat", "open", "openat", "fstat", "newfstatat", "stat", "lstat", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getcwd", "getdents64", "rename", "renameat", "renameat2", "unlink", "unlinkat",
    "ftruncate", "fcntl", "dup", "dup2", "dup3", "pipe2", "poll", "ppoll", "set_tid_address", "prlimit64", "getrlimit",
    "getuid", "geteuid", "getgid", "getegid", "getppid", "uname", "sysinfo", "sched_setaffinity", "getrusage",
    "pwrite64", "fadvise64", "msync", "statfs", "fstatfs",
)  # fmt: skip
"""Calls that a program makes beyond those of a decoder: it is loaded, and opens the files that Landlock leaves it."""

NEVER = (
    "socketpair", "connect", "accept", "accept4", "execve", "execveat", "fork", "vfork",
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kill",
    "tkill", "tgkill", "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "bpf", "perf_event_open",
    "keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd",
    "kexec_load", "init_module", "finit_module", "delete_module", "open_by_handle_at", "name_to_handle_at",
    "setuid", "setgid", "setresuid", "setresgid", "setgroups", "capset", "reboot", "swapon", "swapoff", "acct",
)  # fmt: skip
"""Calls that a box with a graphics device may not make; its driver needs more calls than a list could name. It also
listens on a Unix socket, to which nobody connects."""


class FilterMissing(Exception):
    """The host has no libseccomp, or its kernel takes no filter; or it has no Landlock for a box that opens files."""


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("mask", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


def library() -> ctypes.CDLL:
    """Load libseccomp; must happen while files can still be opened. Raises FilterMissing."""
    try:
        seccomp = ctypes.CDLL(LIBRARY, use_errno=True)
    except OSError as error:
        raise FilterMissing(f"there is no {LIBRARY}") from error
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Comparison),
    ]  # fmt: skip
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    seccomp.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    return seccomp


def restrict(seccomp: ctypes.CDLL, *, device: bool, program: bool = False) -> None:
    """Let this thread, and all threads that it starts, make only the calls above; others fail with EPERM.

    device: whether a graphics device is used. program: whether the process becomes a program. The kernel demands
    no_new_privs first. Raises FilterMissing.
    """
    refuse = _ERRNO | errno.EPERM
    context = seccomp.seccomp_init(_ALLOW if device else refuse)
    if not context:
        raise FilterMissing("no filter can be made")

    def rule(action: int, name: str, *comparisons: _Comparison) -> None:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number < 0:  # not a call of this architecture
            return
        given = (_Comparison * len(comparisons))(*comparisons)
        if seccomp.seccomp_rule_add_array(context, action, number, len(comparisons), given):
            raise FilterMissing(f"no rule for {name} can be made")

    if device:
        for name in NEVER:
            rule(refuse, name)
        rule(refuse, "socket", _Comparison(0, _NOT_EQUAL, _AF_UNIX, 0))
        rule(refuse, "clone", _Comparison(0, _MASKED_EQUAL, _CLONE_THREAD, 0))
    else:
        for name in (*DECODING, *PROGRAM) if program else DECODING:
            rule(_ALLOW, name)
        rule(_ALLOW, "clone", _Comparison(0, _MASKED_EQUAL, _CLONE_THREAD, _CLONE_THREAD))
        rule(_ALLOW, "prctl", _Comparison(0, _MASKED_EQUAL, 0xFFFFFFFF, _PR_SET_NAME))
        for name in ("mmap", "mprotect"):
            rule(_ALLOW, name, _Comparison(2, _MASKED_EQUAL, _PROT_EXEC, 0))
        if program:  # its loader maps libraries, which are files
            rule(
                _ALLOW, "mmap", _Comparison(2, _MASKED_EQUAL, _PROT_EXEC | _PROT_WRITE, _PROT_EXEC),
                _Comparison(3, _MASKED_EQUAL, _MAP_ANONYMOUS, 0),
            )  # fmt: skip
    # Its flags lie in memory, where no filter can look. Without it the C library uses clone.
    rule(_ERRNO | errno.ENOSYS, "clone3")
    if seccomp.seccomp_load(context):
        raise FilterMissing("the kernel takes no filter")
