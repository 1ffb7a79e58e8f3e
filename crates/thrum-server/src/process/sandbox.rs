//! What is left to a process of the file system and the kernel: Landlock and seccomp, where Linux has them.
//!
//! What is not named cannot be opened, and system calls that a web server has no use for fail with `EPERM`: debugging other
//! processes, mounting, loading modules, and starting programs unless the configuration has CGI. There is no way back for the
//! process or its children.
//!
//! A rule for a file is for the file that is there now. Editors and renewals of certificates put another file in its place,
//! so what may change is named by its folder ([`Sandbox::read_beside`]). The resolver's files in `/etc` are named one by one:
//! if another program replaces `/etc/resolv.conf` itself, names are looked up with what was read before, until a restart.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::{Config, Kind, Settings, Value};

/// The settings that name what is written: logs, stores, caches.
const WRITTEN: &[&str] = &["log", "error-log", "store", "folder", "pid-file", "state"];

/// What may stand there and is no path.
const NO_PATHS: &[&str] = &[
    "off", "-", "stdout", "stderr", "syslog", "journald", "memory", "redb",
];

/// What a process is to keep. See [`confine`](Self::confine).
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    execute: bool,
    io_uring: bool,
}

/// What holds for a process that was confined. Shown, it is a line: `Landlock and seccomp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Only what was named can be opened.
    pub files: bool,
    /// Only what a web server needs of the kernel is there.
    pub system_calls: bool,
    /// Programs can be started.
    pub execute: bool,
}

/// Why a process cannot be confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// It would hold for one of the threads only.
    #[error("a process is confined before it begins threads; this one has {0}")]
    Threads(usize),
    /// Landlock is there, and fails.
    #[error("Landlock: {0}")]
    Files(String),
    /// Seccomp is there, and fails.
    #[error("seccomp: {0}")]
    SystemCalls(String),
}

impl Sandbox {
    /// Nothing but what any server needs: shared libraries, time zones, authorities, the resolver's files, `/proc/self`.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file or folder, with all that is in it, may be read.
    pub fn read(&mut self, path: impl Into<PathBuf>) -> &mut Self {
        self.read.push(path.into());
        self
    }

    /// A file may be read, and whatever takes its place: all that is in its folder. Where it is a symbolic link, also in the
    /// folder that it leads to.
    pub fn read_beside(&mut self, file: &Path) -> &mut Self {
        self.read.extend(folder(file));
        if let Ok(real) = file.canonicalize() {
            self.read.extend(folder(&real));
        }
        self
    }

    /// A file or folder may be read and changed; files may be made and removed in it.
    pub fn write(&mut self, path: impl Into<PathBuf>) -> &mut Self {
        self.write.push(path.into());
        self
    }

    /// A file may be written, be it there or not, and moved away: its folder may be changed.
    pub fn write_beside(&mut self, file: &Path) -> &mut Self {
        self.write.extend(folder(file));
        self
    }

    /// Programs may be started, and read and run what this user may: what a CGI script opens, nobody can know. Default: no.
    pub fn execute(&mut self, execute: bool) -> &mut Self {
        self.execute = execute;
        self
    }

    /// `io_uring` may be used, which has system calls that seccomp does not see. Default: no.
    pub fn io_uring(&mut self, allowed: bool) -> &mut Self {
        self.io_uring = allowed;
        self
    }

    /// What a configuration names may be read, and written where it says so; programs may be started if a route has CGI.
    pub fn of(config: &Config) -> Self {
        let mut sandbox = Self::new();
        for source in config.sources.iter() {
            sandbox.read_beside(source.path());
        }
        sandbox.allow(&config.global);
        for site in &config.sites {
            sandbox.allow(&site.settings);
            for route in &site.routes {
                sandbox.allow(&route.settings);
                sandbox.allow_values(&route.values, route.verb.values);
                sandbox.execute |= route.verb.name == "cgi";
            }
        }
        sandbox
    }

    fn allow(&mut self, settings: &Settings) {
        for entry in &settings.entries {
            match WRITTEN.contains(&entry.setting.name) {
                true => self.allow_written(&entry.values),
                false => self.allow_values(&entry.values, entry.setting.values),
            }
            if let Some(block) = &entry.block {
                self.allow(block);
            }
        }
    }

    fn allow_written(&mut self, values: &[Value]) {
        let is_path = |value: &&Value| !NO_PATHS.contains(&value.text());
        for path in values.iter().filter(is_path).map(Value::path) {
            if path.is_dir() {
                self.write(path);
            } else {
                self.write_beside(&path);
            }
        }
    }

    fn allow_values(&mut self, values: &[Value], kinds: &[Kind]) {
        let last = kinds.last().into_iter().cycle();
        for (value, kind) in values.iter().zip(kinds.iter().chain(last)) {
            let path = value.path();
            match kind {
                Kind::File => self.read_beside(&path),
                Kind::Path if !path.is_dir() => self.read_beside(&path),
                Kind::Folder | Kind::Path => self.read(path),
                _ => self,
            };
        }
    }

    /// Gives up everything else, for good, in this process and its children. What the kernel lacks is left out, as the
    /// result says.
    ///
    /// # Errors
    /// When the process has threads already, which would go free, or when the kernel refuses.
    pub fn confine(&self) -> Result<Confinement, SandboxError> {
        system::confine(self)
    }
}

fn folder(file: &Path) -> Option<PathBuf> {
    Some(match file.parent()? {
        empty if empty.as_os_str().is_empty() => PathBuf::from("."),
        folder => folder.to_owned(),
    })
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.files, self.system_calls) {
            (true, true) => "Landlock and seccomp",
            (true, false) => "Landlock (this system has no seccomp)",
            (false, true) if self.execute => "seccomp",
            (false, true) => "seccomp (this system has no Landlock)",
            (false, false) => {
                return f.write_str("none: this system has neither Landlock nor seccomp");
            }
        })?;
        match self.execute {
            true => f.write_str(", open for CGI: programs run and read what the user may"),
            false => Ok(()),
        }
    }
}

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod system {
    use std::collections::BTreeMap;
    use std::os::unix::fs::FileTypeExt;

    use landlock::{
        ABI, Access, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, RulesetStatus,
    };
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    use super::{Confinement, Sandbox, SandboxError};

    /// What any process reads: libraries, zones, authorities, the resolver, and what the runtime's watchdog looks at.
    const READ: &[&str] = &[
        "/etc/ca-certificates",
        "/etc/gai.conf",
        "/etc/host.conf",
        "/etc/hosts",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/mime.types",
        "/etc/nsswitch.conf",
        "/etc/pki",
        "/etc/resolv.conf",
        "/etc/services",
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/lib",
        "/lib64",
        "/proc/meminfo",
        "/proc/self",
        "/proc/stat",
        "/proc/sys/net/core/somaxconn",
        "/run/systemd/resolve",
        "/sys/fs/cgroup",
        "/sys/devices/system/cpu",
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/local/share/ca-certificates",
        "/usr/share/ca-certificates",
        "/usr/share/zoneinfo",
        "/dev/random",
        "/dev/urandom",
    ];

    /// What any process writes.
    const WRITE: &[&str] = &["/dev/null", "/dev/log", "/dev/tty"];

    pub(super) fn confine(sandbox: &Sandbox) -> Result<Confinement, SandboxError> {
        let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
        if threads > 1 {
            return Err(SandboxError::Threads(threads));
        }
        let files = match sandbox.execute {
            true => false,
            false => {
                confine_files(sandbox).map_err(|error| SandboxError::Files(error.to_string()))?
            }
        };
        Ok(Confinement {
            files,
            system_calls: confine_calls(sandbox)?,
            execute: sandbox.execute,
        })
    }

    fn confine_files(sandbox: &Sandbox) -> Result<bool, RulesetError> {
        let abi = ABI::V5;
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let devices = AccessFs::MakeBlock | AccessFs::MakeChar;
        let write = (read | AccessFs::from_write(abi)) & !devices;
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(abi))?
            .create()?;
        let ours = sandbox.read.iter().map(|path| (path.as_path(), read));
        let ours = ours.chain(sandbox.write.iter().map(|path| (path.as_path(), write)));
        let usual = READ.iter().map(|path| (path.as_ref(), read));
        let usual = usual.chain(WRITE.iter().map(|path| (path.as_ref(), write)));
        for (path, access) in usual.chain(ours) {
            // What is not there cannot be opened, be it allowed or not; a pipe, such as /dev/stdout may be, is in no folder that
            // a rule could be for.
            let (Ok(kind), Ok(opened)) = (
                path.metadata().map(|data| data.file_type()),
                PathFd::new(path),
            ) else {
                continue;
            };
            if kind.is_fifo() || kind.is_socket() {
                continue;
            }
            let of_kind: BitFlags<AccessFs> = match kind.is_dir() {
                true => access,
                false => access & AccessFs::from_file(abi),
            };
            rules = rules.add_rule(PathBeneath::new(opened, of_kind))?;
        }
        Ok(rules.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
    }

    /// What no web server calls.
    const DENIED: &[i64] = &[
        libc::SYS_acct,
        libc::SYS_add_key,
        libc::SYS_adjtimex,
        libc::SYS_bpf,
        libc::SYS_chroot,
        libc::SYS_clock_adjtime,
        libc::SYS_clock_settime,
        libc::SYS_delete_module,
        libc::SYS_fanotify_init,
        libc::SYS_finit_module,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fsopen,
        libc::SYS_fspick,
        libc::SYS_init_module,
        libc::SYS_kcmp,
        libc::SYS_kexec_file_load,
        libc::SYS_kexec_load,
        libc::SYS_keyctl,
        libc::SYS_migrate_pages,
        libc::SYS_mount,
        libc::SYS_mount_setattr,
        libc::SYS_move_mount,
        libc::SYS_move_pages,
        libc::SYS_name_to_handle_at,
        libc::SYS_nfsservctl,
        libc::SYS_open_by_handle_at,
        libc::SYS_open_tree,
        libc::SYS_perf_event_open,
        libc::SYS_personality,
        libc::SYS_pidfd_getfd,
        libc::SYS_pivot_root,
        libc::SYS_process_madvise,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_ptrace,
        libc::SYS_quotactl,
        libc::SYS_reboot,
        libc::SYS_request_key,
        libc::SYS_setdomainname,
        libc::SYS_sethostname,
        libc::SYS_setns,
        libc::SYS_settimeofday,
        libc::SYS_swapoff,
        libc::SYS_swapon,
        libc::SYS_syslog,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_userfaultfd,
        libc::SYS_vhangup,
    ];

    const EXECUTE: &[i64] = &[libc::SYS_execve, libc::SYS_execveat];

    const IO_URING: &[i64] = &[
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_io_uring_setup,
    ];

    fn confine_calls(sandbox: &Sandbox) -> Result<bool, SandboxError> {
        let failed = |error: &dyn std::fmt::Display| SandboxError::SystemCalls(error.to_string());
        let mut denied = DENIED.to_vec();
        if !sandbox.execute {
            denied.extend(EXECUTE);
        }
        if !sandbox.io_uring {
            denied.extend(IO_URING);
        }
        let rules: BTreeMap<_, _> = denied.into_iter().map(|call| (call, Vec::new())).collect();
        let architecture = std::env::consts::ARCH;
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM as u32),
            architecture.try_into().map_err(|error| failed(&error))?,
        );
        let program: BpfProgram = filter
            .and_then(TryInto::try_into)
            .map_err(|error| failed(&error))?;
        match seccompiler::apply_filter_all_threads(&program) {
            Ok(()) => Ok(true),
            Err(seccompiler::Error::Seccomp(error))
                if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) =>
            {
                Ok(false)
            }
            Err(error) => Err(failed(&error)),
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
mod system {
    use super::{Confinement, Sandbox, SandboxError};

    pub(super) fn confine(sandbox: &Sandbox) -> Result<Confinement, SandboxError> {
        Ok(Confinement {
            execute: sandbox.execute,
            ..Confinement::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn threads_that_would_go_free_are_an_error() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        let error = Sandbox::new().confine().unwrap_err();
        assert!(matches!(error, SandboxError::Threads(2..)), "{error}");
        drop(go);
        let _ = thread.join();
    }

    #[test]
    fn what_holds_is_said_in_a_line() {
        let all = Confinement {
            files: true,
            system_calls: true,
            execute: false,
        };
        assert_eq!(all.to_string(), "Landlock and seccomp");
        let cgi = Confinement {
            files: false,
            system_calls: true,
            execute: true,
        };
        assert!(cgi.to_string().starts_with("seccomp, open for CGI"));
        assert!(Confinement::default().to_string().starts_with("none"));
    }
}
