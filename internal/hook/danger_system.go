package hook

import (
	"slices"
	"strings"
)

var setuid = lazy(`^([2467][0-7]{3}|[ugo]*[ugo][+=][rwxX]*s[rwxXst]*|[+=][rwxX]*s[rwxXst]*)$`)

func privilege(c command) string {
	ops := c.operands()
	switch c.name {
	case "sudo", "su", "doas", "pkexec", "runuser", "visudo", "sudoedit", "setcap", "usermod", "useradd", "adduser", "userdel", "groupadd", "passwd", "chpasswd", "newgrp", "gpasswd", "gsudo", "dzdo":
		if len(c.args) == 1 && c.has("--version", "--help") {
			return ""
		}
		return c.name + " takes the rights of another user"
	case "chmod":
		if len(ops) > 0 && slices.ContainsFunc(strings.Split(ops[0], ","), setuid.MatchString) {
			return "chmod " + ops[0] + " lets a program run as its owner"
		}
	case "chown", "chgrp":
		if len(ops) > 0 {
			user, group, _ := strings.Cut(strings.Replace(ops[0], ".", ":", 1), ":")
			if user == "root" || user == "0" || group == "root" || group == "0" || c.name == "chgrp" && user == "wheel" {
				return c.name + " " + ops[0] + " gives files to root"
			}
		}
	case "install":
		if slices.ContainsFunc(c.values("-m", "--mode"), setuid.MatchString) {
			return "install makes a program run as its owner"
		}
	}
	return ""
}

var (
	everyProcess = lazy(`^(-1|0|1|\$PPID)$`)
	ourselves    = lazy(`(?i)^\W*(ralph|claude|codex|gemini|opencode|amp|node|bun|python\d?|bash|sh|zsh|sshd?|systemd|init|docker\w*|tmux|screen|\.[*+]?)?\W*$`)
)

func killOthers(c command) string {
	switch c.name {
	case "kill":
		return killed(c)
	case "killall", "killall5", "skill", "slay":
		if c.has("-l", "--list", "--version", "-V") {
			return ""
		}
		return c.name + " ends processes by their name, whosever they are"
	case "pkill":
		if len(c.values("-u", "-U", "-g", "-G", "--uid", "--euid", "--pgroup")) > 0 || c.has("--inverse") {
			return "pkill ends processes of everybody"
		}
		for _, pattern := range c.operands("-s", "-t", "-P", "-signal", "--signal") {
			if ourselves.MatchString(pattern) || strings.Contains(strings.ToLower(pattern), "ralph") {
				return "pkill " + pattern + " ends ralph, the agent or programs of others"
			}
		}
	case "fuser":
		if c.short("k") || c.has("--kill") {
			return "fuser -k ends whoever uses a file or a port"
		}
	case "loginctl":
		if sub, _ := c.first(); strings.HasPrefix(sub, "terminate") || strings.HasPrefix(sub, "kill") {
			return "loginctl " + sub + " ends a session"
		}
	}
	return ""
}

// killed looks at the processes that kill names; the first word with a hyphen is a signal.
func killed(c command) string {
	signalled := false
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch {
		case arg == "-l" || arg == "-L" || arg == "--list":
			return ""
		case arg == "-s" || arg == "-n" || arg == "--signal":
			signalled, i = true, i+1
		case arg == "--":
			signalled = true
		case arg == "-0":
			return "" // it only asks
		case strings.HasPrefix(arg, "-") && !signalled && (arg != "-1" || len(c.args) > i+1):
			signalled = true
		case everyProcess.MatchString(arg):
			return "kill " + arg + " ends every process, or who started you"
		case strings.Contains(arg, "pgrep:") && strings.Contains(strings.ToLower(arg), "ralph"):
			return "kill ends ralph"
		}
	}
	return ""
}

func systemControl(c command) string {
	sub, rest := c.first()
	asks := func(words ...string) bool {
		return sub == "" && !c.short("aeirR") || slices.Contains(words, sub) || c.has("--help", "--version")
	}
	switch c.name {
	case "systemctl":
		if !asks("status", "is-active", "is-enabled", "is-failed", "show", "cat", "list-units", "list-unit-files", "list-timers", "list-sockets", "get-default") {
			return "systemctl " + sub
		}
	case "service", "rc-service", "invoke-rc.d":
		if c.has("--status-all") || len(rest) > 0 && rest[0] == "status" {
			return ""
		}
		return c.name + " controls a service"
	case "shutdown", "reboot", "halt", "poweroff", "telinit", "init", "kexec", "modprobe", "insmod", "rmmod", "mount", "umount", "swapon", "swapoff", "iptables", "ip6tables", "nft", "ufw",
		"firewall-cmd", "grub-install", "update-grub", "efibootmgr", "update-rc.d", "chkconfig", "at", "batch", "setenforce", "depmod":
		if c.has("--help", "--version", "-l", "--list") || c.name == "mount" && len(c.args) == 0 {
			return ""
		}
		return c.name + " changes the system"
	case "crontab":
		if !c.short("l") || c.short("re") {
			return "crontab changes what is run at times"
		}
	case "launchctl":
		if !asks("list", "print", "version", "blame") {
			return "launchctl " + sub
		}
	case "sysctl":
		if c.short("wp") || c.has("--write", "--system", "--load") || strings.Contains(sub, "=") {
			return "sysctl changes the kernel"
		}
	case "timedatectl", "hostnamectl", "localectl", "loginctl", "networksetup", "scutil", "nvram", "csrutil":
		if strings.HasPrefix(sub, "set") || c.name == "nvram" && strings.Contains(sub, "=") || sub == "disable" || strings.HasPrefix(strings.Join(c.args, " "), "-set") {
			return c.name + " " + sub
		}
	case "swupdate", "do-release-upgrade", "softwareupdate":
		return c.name + " changes the system"
	}
	return ""
}

var systemDirs = []string{"/etc", "/boot", "/sys", "/proc/sys", "/proc/sysrq-trigger", "/bin", "/sbin", "/usr", "/lib", "/lib64", "/System", "/Library", "/var/spool/cron", "/var/lib", "/run/systemd"}

func systemFile(t touch) string {
	if t.project() != "" || inside("/usr/local/share/ralph", t.path) {
		return ""
	}
	for _, dir := range systemDirs {
		if t.path == dir || inside(dir, t.path) {
			return t.path + " belongs to the system"
		}
	}
	return ""
}

// packagers are programs that install for the whole machine, and the words by which they do.
var packagers = map[string][]string{
	"apt":      {"install", "remove", "purge", "upgrade", "full-upgrade", "dist-upgrade", "autoremove", "reinstall"},
	"apt-get":  {"install", "remove", "purge", "upgrade", "dist-upgrade", "autoremove", "build-dep", "reinstall"},
	"aptitude": {"install", "remove", "purge", "upgrade", "safe-upgrade", "full-upgrade"},
	"yum":      {"install", "remove", "erase", "update", "upgrade", "localinstall", "groupinstall"},
	"dnf":      {"install", "remove", "erase", "update", "upgrade", "groupinstall"},
	"microdnf": {"install", "remove", "update", "upgrade"},
	"zypper":   {"install", "in", "remove", "rm", "update", "up", "dup"},
	"apk":      {"add", "del", "upgrade", "fix"},
	"brew":     {"install", "uninstall", "reinstall", "upgrade", "tap", "remove", "rm", "link", "unlink"},
	"port":     {"install", "uninstall", "upgrade"},
	"snap":     {"install", "remove", "refresh"},
	"flatpak":  {"install", "uninstall", "update"},
	"emerge":   nil,
	"choco":    {"install", "uninstall", "upgrade"},
	"winget":   {"install", "uninstall", "upgrade"},
	"pkg":      {"install", "remove", "delete", "upgrade"},
}

func systemPackages(c command) string {
	sub, _ := c.first()
	if words, ok := packagers[c.name]; ok && (slices.Contains(words, sub) || words == nil && len(c.args) > 0 && !c.short("ps")) {
		if c.short("s") && strings.HasPrefix(c.name, "apt") || c.has("--dry-run", "--simulate", "--help") {
			return ""
		}
		return c.name + " " + sub + " changes the machine"
	}
	switch c.name {
	case "pacman":
		if c.short("SRU") && !c.short("sqi") {
			return "pacman changes the machine"
		}
	case "dpkg", "rpm":
		if c.short("irPUeF") && !c.short("q") && c.name == "rpm" || c.name == "dpkg" && (c.short("irP") || c.has("--install", "--remove", "--purge", "--configure")) {
			return c.name + " changes the machine"
		}
	case "npm", "pnpm", "yarn", "bun":
		global := c.short("g") || c.has("--global", "--location=global") || c.name == "yarn" && sub == "global"
		if global && slices.Contains([]string{"i", "install", "add", "global", "uninstall", "remove", "rm", "update", "link", "un", "in"}, sub) {
			return c.name + " installs for the whole machine"
		}
	case "pip", "pip2", "pip3", "python", "python3":
		if c.has("--break-system-packages") && slices.Contains(c.args, "pip") == strings.HasPrefix(c.name, "python") {
			return c.name + " installs into the system's Python"
		}
	case "gem":
		if (sub == "install" || sub == "uninstall" || sub == "update") && !c.has("--user-install", "--install-dir") && !c.short("i") {
			return "gem installs for the whole machine"
		}
	case "nix-env":
		if c.short("iue") {
			return "nix-env changes the machine"
		}
	}
	return ""
}

// startup are files below the home that are run, or believed, at every login.
var startup = []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
	".xinitrc", ".xprofile", ".xsession", ".inputrc", ".gitconfig", ".config/git/", ".config/fish/", ".config/autostart/", ".config/systemd/", ".config/environment.d/", "Library/LaunchAgents/",
	".ssh/", ".pam_environment", ".vimrc", ".config/nvim/", ".npmrc", ".pydistutils.cfg", ".pythonrc", ".local/share/applications/"}

func startupFile(t touch) string {
	rel := t.home()
	if rel == "" {
		return ""
	}
	for _, name := range startup {
		if rel == strings.TrimSuffix(name, "/") || strings.HasSuffix(name, "/") && strings.HasPrefix(rel, name) {
			return "it changes ~/" + rel
		}
	}
	return ""
}

func persistence(c command) string {
	if c.name == "ssh-copy-id" {
		return "ssh-copy-id lets a key in"
	}
	if c.name == "chsh" {
		return "chsh changes the shell of every login"
	}
	return ""
}
