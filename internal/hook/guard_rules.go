package hook

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/shell"
)

// rule is one kind of call that is refused.
//
// In args, unless and env every argument is a line of its own, so that ^x$ is the argument x, and \A and \z are where
// they begin and end.
type rule struct {
	// "rm|rimraf", or with subcommands "docker|podman volume|image"; "" is any call; several are separated by ", "
	programs string
	args     string // what the arguments, without the subcommand, must match; "" matches everything
	what     string // what is behind the name of the program and its subcommand in the reason
	unless   string // what they must not match
	env      string // what NAME=value before the command must match
	run      bool   // only while ralph is running
	fed      bool   // only when it reads something on standard input
	stdin    bool   // the known standard input is matched like an argument
	// check says what is wrong where a pattern cannot; "" is nothing.
	check func(call) string
}

// Parts of patterns.
const (
	first  = `\A(-[^\n]*\n)*` // what follows is the first operand
	help   = `^--(help|version)$`
	dryRun = `^--(dry-?run(=\w+)?|help)$`
	here   = `^(\w+:(//)?)?([^/@\n]*@)?(localhost|127\.|\[?::1|0\.0\.0\.0|host\.docker\.internal|[^/:\n]*\.localhost)` // this machine
	// what a program printed, or a secret
	told   = "[" + shell.Secret + shell.Output + shell.Foreign + "]"
	gitKey = `(?i:core\.(hookspath|fsmonitor|sshcommand|editor|pager|gitproxy|askpass|attributesfile|excludesfile|worktree)|sequence\.editor|` +
		`credential(\..*)?|include\.path|includeif\..*|filter\..*|diff\..*\.(command|textconv)|diff\.external|merge\..*\.driver|gpg\..*program|` +
		`url\..*|remote\..*\.(url|pushurl|uploadpack|receivepack|proxy)|http\..*|protocol\..*|hook\..*|init\.templatedir|uploadpack\..*|` +
		`receive\..*|safe\..*|commit\.gpgsign)`
	codeShell  = `(/bin/(ba|z|da)?sh|\bpty\b|dup2|\bcmd\.exe|child_process|shell_exec|\bsh -i)`
	codeSocket = `(?i:socket|/inet/tcp|fsockopen|net\.connect)`
	sql        = "psql|mysql|mariadb|sqlcmd|clickhouse-client|cqlsh|cockroach|snowsql|bq|usql|pgcli|mycli"
	agentNames = `(ralph|claude|codex|gemini|opencode|amp|node|bun|python\d?|bash|sh|zsh|sshd?|systemd|init|docker\w*|tmux|screen|\.[*+]?)`
	languages  = "python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|osascript|pwsh|powershell|tclsh|rscript"
)

// dangers are the kinds of things that the guard refuses, in the order in which they are searched for.
var dangers = []category{
	{
		name:    "recursive-delete",
		why:     "Deleting directories outside the project, or the project itself, cannot be taken back.",
		instead: "Delete by name, inside the project, what you made yourself.",
		rules:   []rule{{programs: "rm|rimraf|del-cli|trash|find|rsync", check: recursiveDelete}},
	}, {
		name:    "device-write",
		why:     "Writing to a disk or another device destroys what is on it.",
		instead: "Write to a file in the project.",
		touches: deviceFile,
		rules: []rule{
			{programs: "mkfs|mke2fs|mkswap|sfdisk|cfdisk|shred|blkdiscard|sgdisk|lvremove|vgremove|pvremove|newfs",
				unless: `^(-l|--list|--help|--version)$`, what: "overwrites a disk or a file for good"},
			{programs: "wipefs", args: `\n`, what: "overwrites a disk"},
			{programs: "fdisk|parted|gdisk", unless: `^(-l|--list)$`, what: "changes partitions"},
			{programs: "diskutil", args: `(?i)\A(erase|partition)`, what: "overwrites a disk"},
			{programs: "cryptsetup", args: `(?i)\Aluks`, what: "changes an encrypted disk"},
			{programs: "hdparm", args: `^--(security-erase|trim-sector)`, what: "erases a disk"},
		},
	}, {
		name:    "history-rewrite",
		why:     "Rewriting or pushing history can destroy the work of others, and of this run.",
		instead: "Make new commits on top; in a run, ralph pushes them.",
		rules: []rule{
			{programs: "bfg|git-filter-repo, git filter-branch|filter-repo|fast-import", what: "rewrites history"},
			{programs: "git push", run: true, unless: `^(-n|--dry-run)$`, what: "is ralph's part in a run"},
			{programs: "git push", args: `^-[a-z]*[fd]|^--(force|mirror|delete|prune)|^\+|^:.`, unless: `^(-n|--dry-run)$`,
				what: "overwrites or deletes what others have"},
			{programs: "git rebase", run: true, unless: `^--(abort|continue|skip|quit|show-current-patch)$`,
				what: "rewrites the commits of this run"},
			{programs: "git commit", run: true, args: `^--amend$`, what: "--amend rewrites a commit of this run"},
			{programs: "git reflog", args: `^(expire|delete)$`, what: "takes the way back away"},
			{programs: "git update-ref", args: `^(-[a-z]*d|--stdin|--delete)`, what: "moves branches"},
			{programs: "git update-ref", run: true, what: "moves branches"},
			{programs: "git replace", args: `.`, unless: `^(-l|--list)$`,
				what: "replaces existing commits"},
			{programs: "git symbolic-ref", args: `^(-d|--delete)$|^[^-\n][^\n]*\n[^-]`, what: "moves HEAD to another branch"},
			{programs: "git gc", args: `^--prune=(now|all)$`, what: "--prune takes the way back away"},
		},
	}, {
		name:    "discard-work",
		why:     "This throws work away that is in no commit.",
		instead: "Commit what is there, then undo single changes by editing the files.",
		rules: []rule{
			{programs: "rm|mv|rimraf", args: `^([^-\n]\S*/)?\.git/?(\*\n|\*\z|$)`, what: "takes the repository away"},
			{programs: "git clean", args: `^(-[a-z]*f|--force)`, unless: `^(-[a-z]*n|--dry-run)`,
				what: "deletes what is not tracked"},
			{programs: "git reset", args: `^--(hard|merge|keep)`, what: "throws changes away"},
			{programs: "git checkout|switch", args: `^(-[a-z]*f|--force|--discard-changes)`,
				what: "--force throws changes away"},
			{programs: "git checkout", args: `^--\n.|^(\.|\./|\*|:/.*)$|^--(ours|theirs)$`, unless: `^(-b|-B|--orphan)$`,
				what: "of files throws their changes away"},
			{programs: "git restore", unless: `^(-\w*S|--staged)`, what: "throws changes away"},
			{programs: "git restore", args: `^(-\w*W|--worktree)`, what: "throws changes away"},
			{programs: "git stash", args: `\A(drop|clear)$`, what: "throws changes away"},
			{programs: "git branch", args: `^-D|^-(df|fd)|^(-d|--delete)\n(.*\n)*(-f|--force)$`, what: "throws commits away"},
			{programs: "git worktree", args: `\Aremove\n(.*\n)*(-f|--force)$`, what: "remove --force throws changes away"},
			{programs: "git rm", args: `^(-[a-z]*f|--force)`, unless: `^--cached$`, what: "--force throws changes away"},
		},
	}, {
		name:    "git-tampering",
		why:     "Hooks and settings of git run programs and keep mistakes out of commits.",
		instead: "Leave them as they are, and fix what a hook complains about.",
		touches: gitFile,
		rules: []rule{
			{env: `^(GIT_CONFIG\w*|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_TEMPLATE_DIR|GIT_EXEC_PATH|GIT_ASKPASS)=|^HUSKY=0$`,
				what: "with such an environment changes what git runs"},
			{programs: "git", args: `^(-c|--config-env)[\n=]` + gitKey + `=`, what: "-c changes what git runs"},
			{programs: "git commit|push|merge|am|rebase|cherry-pick|pull|revert", args: `^--no-verify$`,
				what: "--no-verify passes over the hooks"},
			{programs: "git commit", args: `^-[a-zA-Z]*n`, what: "-n passes over the hooks"},
			{programs: "git config", args: `^` + gitKey +
				`\n[^-]|^(set|unset|--unset(-all)?|--remove-section|--rename-section|--replace-all|--add)\n(.*\n)*` +
				gitKey + `$|^(-e|--edit|edit)$`, unless: `^(--get.*|--list|-l|get|list)$`, what: "changes what git runs"},
			{programs: "git update-index", args: `^--(assume-unchanged|skip-worktree)$`, what: "hides changes"},
		},
	}, {
		name:    "privilege",
		why:     "Nothing in this project needs the rights of another user.",
		instead: "Do it as the user you are, or say in your answer what a person has to do.",
		rules: []rule{
			{programs: "sudo|su|doas|pkexec|runuser|visudo|sudoedit|setcap|usermod|useradd|adduser|userdel|groupadd|passwd|chpasswd|newgrp|" +
				"gpasswd|gsudo|dzdo", unless: `\A--(version|help)\z`, what: "takes the rights of another user"},
			{programs: "chmod", args: first + `([^\n]*,)?([2467][0-7]{3}|[ugo]*[+=][rwxX]*s[rwxXst]*)(,|$)`,
				what: "lets a program run as its owner"},
			{programs: "install", args: `^(-m\n?|--mode[=\n])([2467][0-7]{3}|\S*[+=][rwxX]*s)`,
				what: "makes a program run as its owner"},
			{programs: "chown", args: first + `(root|0)([:.\n]|\z)|` + first + `[^-:.\n]*[:.](root|0)(\n|\z)`,
				what: "gives files to root"},
			{programs: "chgrp", args: first + `(root|0|wheel)\n`, what: "gives files to root"},
		},
	}, {
		name:    "permissions",
		why:     "Files that everyone can write, and changed permissions outside the project, let others in.",
		instead: "Give the owner what is needed: chmod u+w FILE, chmod +x FILE.",
		rules: []rule{
			{programs: "chmod", args: first +
				`([^\n]*,)?(0?[0-7]?[0-7][0-7][2367]|[ugo]*[ao][ugoa]*[+=][rx]*w[rwx]*|[+=]?rwxrwxrwx)(,|$)`,
				what: "lets everyone write"},
			{programs: "chmod|chown|chgrp|setfacl|chattr", args: `^(-\w*R|--recursive)`, check: recursiveRights},
		},
	}, {
		name:    "download-and-run",
		why:     "No one has read code that was just downloaded or decoded.",
		instead: "Download it to a file, read it, and use the project's own package manager where there is one.",
		rules: []rule{
			{check: func(c call) string {
				if strings.Contains(c.Word, shell.Foreign) {
					return "it runs what was downloaded or decoded"
				}
				return ""
			}},
			{programs: languages, args: `^(-[ceErp]|--eval|--print|-Command|-EncodedCommand)\n[^\n]*` + shell.Foreign + "|" + first +
				`[^\n]*` + shell.Foreign,
				what: "runs what was downloaded or decoded"},
			{programs: languages, stdin: true, args: `\A-?\n?` + shell.Foreign, what: "runs what was downloaded or decoded"},
		},
	}, {
		name:    "credentials",
		why:     "Keys, tokens and passwords are not needed for this work, and must not get into a conversation.",
		instead: "Work without them; use made-up values in tests.",
		rules: []rule{
			{check: readsCredentials},
			{programs: "gh auth", args: `\Atoken$|\Astatus\n(.*\n)*(-t|--show-token)$`, what: "prints its token"},
			{programs: "printenv", args: `\A\z|(TOKEN|SECRET|PASSWORD|PASSWD|KEY|CREDENTIALS?)$`,
				what: "prints secrets of the environment"},
			{programs: "env", args: `\A((-u\n.*|-.*|\w+=.*)(\n|\z))*\z`, unless: `^(-S|--split-string|--help|--version)`,
				what: "prints the whole environment"},
			{programs: "echo|printf", args: shell.Secret, what: "prints a variable that holds a secret"},
			{programs: "set", args: `\A\z`, what: "prints every variable"},
			{programs: "export|declare", args: `^-\w*p`, unless: `^[^-\n]`, what: "-p prints the whole environment"},
			{programs: "security", args: `\Afind-.*\n(.*\n)*-\w*w|\Adump-keychain`, what: "prints a password"},
			{programs: "git credential", args: `^fill$`, what: "prints a password"},
			{programs: "aws configure", args: `\A(get|export-credentials)$`, what: "prints its keys"},
			{programs: "gcloud auth", args: `\A(print-|application-default\nprint-)`, what: "prints its token"},
			{programs: "kubectl|oc get", args: `\Asecret(.*\n)*(-o|--output)`, what: "prints a secret"},
			{programs: "pass|op|vault|bw show|read|get", what: "prints a secret"},
		},
	}, {
		name:    "send-out",
		why:     "Files of this machine must not be sent to others.",
		instead: "Keep results in the project; ralph publishes what was committed.",
		rules: []rule{
			{programs: "curl", unless: here, args: `^(-T|--upload-file)|^--data-urlencode[\n=][^\n]*@|` +
				`^(-[dF]|--data[a-z-]*|--json|--form[a-z-]*|--url-query)[\n=]?(@|[^\n]*=[@<]|[^\n]*` + told + `)`,
				what: "sends a file, a secret or what a program prints"},
			{programs: "curl|wget", unless: here, args: `^\w+://([^/?\n]*` + told + `|[^?\n]*\?[^\n]*` + told + `)`,
				what: "sends what a program prints, or a secret, in an address"},
			{programs: "wget", unless: here, args: `^--(post|body)-file`, what: "sends a file"},
			{programs: "http|https|xh", unless: here, args: `^[^-:\n][^:\n]*@|:=@`, what: "sends a file"},
			{programs: "scp|rsync", args: `\n(([\w.-]+@)?[\w.-]{2,}:|rsync://)[^\n]*\z`, what: "sends files to another machine"},
			{programs: "sftp|ftp|lftp|tftp|ncftpput|ngrok|localtunnel|lt|cloudflared|croc|wormhole|rclone|sendmail|mail|mailx|mutt|swaks|" +
				"magic-wormhole", args: `.`, unless: help, what: "sends out of this machine"},
			{programs: "nc|ncat|netcat|telnet", fed: true, args: `.`,
				unless: here + `|^-\w*[zlhVe]|^--(help|version|exec|sh-exec|listen)`, what: "sends out of this machine"},
			{programs: "socat", args: `^(?i:tcp4?|ssl|openssl):`, unless: here + `|^(?i:exec|system|shell|pty):|-(?i:listen)`,
				what: "sends out of this machine"},
			{programs: "ssh", fed: true, args: `^[^-]`, unless: here, what: "sends what it reads to another machine"},
			{programs: "aws s3", args: `^(cp|sync|mv)\n[^\n]*\ns3://`, unless: `^(cp|sync|mv)\ns3://`, what: "sends files"},
			{programs: "gsutil|az|gcloud", args: `^cp\n(.*\n)*gs://[^\n]*\z|^upload(-batch)?$`, what: "sends files"},
			{programs: "gh gist|release", args: `\Acreate$`, what: "publishes"},
			{programs: "npm|pnpm|yarn|bun|cargo|poetry|uv|twine|gem|docker|podman|helm|mvn|vsce publish|push|upload|deploy",
				unless: dryRun, what: "publishes"},
			{programs: "dig|nslookup|host|ping", args: shell.Output, what: "puts what a program prints into a name"},
		},
	}, {
		name:    "remote-shell",
		why:     "This lets others in: a shell over the network, or a port that listens.",
		instead: "Test servers through their own test tools, on the loopback interface.",
		rules: []rule{
			{check: networkFile},
			{programs: "nc|ncat|netcat", args: `^-\w*[el]|^-c\n|^--(exec|sh-exec|lua-exec|listen)`,
				what: "listens, or runs a command for anyone who connects"},
			{programs: "socat", args: `^(?i:exec|system|shell|pty)\b|^(?i:[\w-]*listen)`,
				what: "listens, or runs a command for anyone who connects"},
			{programs: "ssh|autossh", args: `^-R`, what: "-R lets others in"},
			{programs: "telnetd|sshd|dropbear|gotty|ttyd|wetty|tmate|pwncat|chisel|msfvenom|msfconsole", what: "lets others in"},
			{programs: languages + "|awk|gawk",
				args: `(?s)` + codeShell + `.*` + codeSocket + `|` + codeSocket + `.*` + codeShell,
				what: "connects a shell with the network"},
		},
	}, {
		name:    "kill-others",
		why:     "This ends processes that are not yours, ralph and the agent among them.",
		instead: "End what you started, by its process id.",
		rules: []rule{
			{programs: "kill", args: `^-1\z|^(0|1|\$PPID)$`, unless: `^(-l|-L|--list|-0)$|^-[sn]\n0$`,
				what: "ends every process, or who started you"},
			{programs: "kill", args: `pgrep:.*ralph`, what: "ends ralph"},
			{programs: "killall|killall5|skill|slay", unless: `^(-l|--list|--version|-V)$`,
				what: "ends processes by their name, whosever they are"},
			{programs: "pkill", args: `^(-[uUgG]|--uid|--euid|--pgroup|--inverse)`, what: "ends processes of all users"},
			{programs: "pkill", args: `^[^\w\n-]+$|^(?i)[^\w\n]*` + agentNames + `[^\w\n]*$|(?i)ralph`,
				what: "ends ralph, the agent or programs of others"},
			{programs: "fuser", args: `^-\w*k|^--kill`, what: "-k ends every process that uses a file or a port"},
			{programs: "loginctl", args: first + `(terminate|kill)`, what: "ends a session"},
		},
	}, {
		name:    "fork-bomb", // shell.Script has them
		why:     "Processes that start each other without an end stop the machine.",
		instead: "Start a fixed number, and wait for them.",
	}, {
		name:    "system",
		why:     "Services, start-up, timers and the files of the system are not the project's.",
		instead: "Start what you need as a child process, from the project.",
		touches: systemFile,
		rules: []rule{
			{programs: "systemctl", args: `^[^-]`, unless: `^(status|is-\w+|show|cat|list-[\w-]+|get-default|--help|--version)$`,
				what: "controls services"},
			{programs: "service|rc-service|invoke-rc.d", unless: `^--status-all$|^\S+\nstatus$`, what: "controls a service"},
			{programs: "shutdown|reboot|halt|poweroff|telinit|init|kexec|modprobe|insmod|rmmod|umount|swapon|swapoff|iptables|ip6tables|nft|ufw|" +
				"firewall-cmd|grub-install|update-grub|efibootmgr|update-rc.d|chkconfig|at|batch|setenforce|depmod|swupdate|do-release-upgrade|softwareupdate",
				unless: `^(--help|--version|-l|--list)$`, what: "changes the system"},
			{programs: "mount", args: `.`, unless: `^(--help|--version|-l|--list)$`, what: "changes the system"},
			{programs: "crontab", unless: `^-l$`, what: "changes what is run at times"},
			{programs: "launchctl", args: `.`, unless: `\A(list|print|version|blame)`, what: "controls services"},
			{programs: "sysctl", args: `^-\w*[wp]|^--(write|system|load)|=`, what: "changes the kernel"},
			{programs: "timedatectl|hostnamectl|localectl|networksetup|scutil|csrutil", args: `\A-?set|\Adisable$`,
				what: "changes the system"},
			{programs: "nvram", args: `=`, what: "changes the system"},
		},
	}, {
		name:    "system-packages",
		why:     "Installing for the whole machine changes the tools of everyone else.",
		instead: "Add it to the project's own dependencies, or to a virtual environment in the project.",
		rules: []rule{
			{programs: "apt|apt-get|aptitude|brew|port|snap|apk|choco|winget|pkg " +
				"install|remove|purge|upgrade|full-upgrade|dist-upgrade|safe-upgrade|" +
				"autoremove|build-dep|reinstall|uninstall|add|del|delete|fix|tap|link|unlink|rm|refresh",
				unless: `^(-\w*s|--dry-run|--simulate|--help)$`, what: "changes the machine"},
			{programs: "yum|dnf|microdnf|zypper|flatpak " +
				"install|remove|erase|update|upgrade|localinstall|groupinstall|uninstall|in|rm|up|dup",
				unless: dryRun, what: "changes the machine"},
			{programs: "emerge", args: `.`, unless: `^-\w*[ps]`, what: "changes the machine"},
			{programs: "pacman", args: `^-\w*[SRU]`, unless: `^-\w*[sqi]`, what: "changes the machine"},
			{programs: "dpkg", args: `^-\w*[irP]|^--(install|remove|purge|configure)`, what: "changes the machine"},
			{programs: "rpm", args: `^-\w*[irPUeF]`, unless: `^-\w*q`, what: "changes the machine"},
			{programs: "npm|pnpm|yarn|bun i|in|install|add|uninstall|un|remove|rm|update|link",
				args: `^-\w*g|^--(global|location=global)$`,
				what: "installs for the whole machine"},
			{programs: "yarn global", what: "installs for the whole machine"},
			{programs: "pip", args: `^--break-system-packages$`, what: "installs into the system's Python"},
			{programs: "python", args: `^pip\n(.*\n)*--break-system-packages$`, what: "installs into the system's Python"},
			{programs: "gem install|uninstall|update", unless: `^(--user-install|--install-dir|-\w*i)`,
				what: "installs for the whole machine"},
			{programs: "nix-env", args: `^-\w*[iue]`, what: "changes the machine"},
		},
	}, {
		name:    "persistence",
		why:     "Files that are run at every login outlast this work, and run as the user.",
		instead: "Set what you need in the command itself: NAME=value COMMAND.",
		touches: startupFile,
		rules: []rule{
			{programs: "ssh-copy-id", what: "lets a key in"},
			{programs: "chsh", what: "changes the shell of every login"},
		},
	}, {
		name:    "harness",
		why:     "These files and commands control this run; they are not part of the work.",
		instead: "Do your story: edit the project, ralph/tasks.json and ralph/progress.txt, and commit.",
		touches: harnessFile,
		rules: []rule{
			{env: `^RALPH_\w*=`, what: "with such an environment changes how ralph works"},
			{programs: "export|declare|typeset|readonly", args: `^RALPH_\w*=|^-\w*n\n(.*\n)*RALPH_`,
				what: "changes how ralph works"},
			{programs: "unset", args: `^RALPH_`, what: "changes how ralph works"},
			{programs: "env", args: `^RALPH_\w*=|^(-u\n?|--unset[=\n])RALPH_`, what: "changes how ralph works"},
			{programs: "ralph hook", args: `^install$`, unless: help, what: "changes the settings of agents"},
			{programs: "ralph cancel", unless: help, what: "ends this run"},
			{programs: "ralph plan", run: true, unless: help + `|\A(status|validate|skill)$`,
				what: "is not the agent's to call"},
			{programs: "ralph", run: true, what: "is not the agent's to call", unless: help + `|\A-[hv]\z|` + first +
				`(status|bus|signature|prompt|settings|replay|doctor|completion|task|help|report|hook|plan)(\n|\z)`},
		},
	}, {
		name:    "data-destruction",
		why:     "Deleting databases and what is in a cloud cannot be taken back.",
		instead: "Use a local database that a test made, and only look at anything else.",
		rules: []rule{
			{programs: sql, stdin: true,
				args: `(?i)\b(drop\s+(database|schema|table|tablespace|owned|keyspace|user|role)|truncate\s+(table\s+)?["\w]|` +
					`flush\s+privileges)`, what: "deletes tables or databases"},
			{programs: sql, stdin: true, args: `(?i)\bdelete\s+from\s+[^;]*`, unless: `(?i)\bwhere\b`,
				what: "deletes every row of a table"},
			{programs: "dropdb|dropuser", what: "deletes a database"},
			{programs: "mysqladmin", args: `^drop$`, what: "deletes a database"},
			{programs: "redis-cli", stdin: true, args: `(?i)\bflush(all|db)\b`, what: "deletes everything"},
			{programs: "mongosh|mongo", stdin: true, args: `(?i)dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}`,
				what: "deletes a database"},
			{programs: "docker|podman|nerdctl volume", args: `\A(prune|rm)$`, what: "deletes what others use"},
			{programs: "docker|podman|nerdctl system|image|builder|container", args: `\Aprune\n(.*\n)*(-\w*a|--all|--volumes)`,
				what: "prune deletes what others use"},
			{programs: "docker swarm", args: `\Aleave$`, what: "leaves the swarm"},
			{programs: "docker|podman|nerdctl run|create|exec|container",
				args: `^--(privileged|(pid|net|network|userns)=host|cap-add=(ALL|SYS_ADMIN))$`,
				what: "gives a container the rights of the machine"},
			{programs: "docker|podman|nerdctl run|create|container", check: mounts},
			{programs: "terraform|tofu|terragrunt|cdk|serverless|sls|copilot|eksctl|pulumi", args: `^destroy$`, unless: dryRun,
				what: "destroys what is deployed"},
			{programs: "terraform|tofu|terragrunt|cdk", args: `^--?destroy$`, unless: dryRun + `|\Aplan$`,
				what: "destroys what is deployed"},
			{programs: "terraform|tofu|terragrunt state", args: `\Arm$`, what: "forgets what is deployed"},
			{programs: "pulumi down, eksctl delete, serverless|sls remove", unless: dryRun, what: "destroys what is deployed"},
			{programs: "kubectl|oc|k3s delete", unless: dryRun, what: "deletes what others use",
				args: `^(--all|--all-namespaces|-A)$|^(ns|namespaces?|pvc?|` +
					`nodes?|crd|project|persistentvolume(claim)?|deployments?|statefulset|all|secrets?)(/.*)?$`},
			{programs: "kubectl|oc drain, helm uninstall|delete", unless: dryRun, what: "stops what others use"},
			{programs: "aws s3", unless: dryRun, args: `\Arb$|\Arm\n(.*\n)*--recursive|\Async\n(.*\n)*--delete`,
				what: "deletes what is stored"},
			{programs: "aws", unless: dryRun, args: `\A[\w-]+\n(delete|terminate|destroy|remove|purge|deregister|nuke)(-.*)?$`,
				what: "deletes what is deployed"},
			{programs: "gcloud|az|doctl|ibmcloud|linode-cli|hcloud|scw|flyctl|fly|vercel|netlify|railway|oci|aliyun|bq",
				unless: dryRun,
				args:   `^(delete|terminate|destroy|remove|purge|deregister|nuke)(-.*)?$`, what: "deletes what is deployed"},
			{programs: "heroku", args: `\A([\w:]+:(destroy|delete)|pg:reset)$`, what: "deletes what is deployed"},
			{programs: "gsutil", args: `^rb$|^rm\n(.*\n)*(-\w*[rR]|[^\n]*\*)`, what: "deletes what is stored"},
			{programs: "gh repo|release|secret|variable", args: `\Adelete$`, what: "deletes on GitHub"},
			{programs: "gh repo", args: `\Aarchive$`, what: "archives a repository"},
			{programs: "gh api", args: `^(-X\n?|--method[=\n])(?i:delete)$`, what: "deletes on GitHub"},
		},
	},
}

// indexed is a rule under the name of a program, or of a program and its subcommand.
type indexed struct {
	danger string
	rule   *rule
}

// ruleIndex is made when the guard is first asked.
var ruleIndex = sync.OnceValue(func() map[string][]indexed {
	index := map[string][]indexed{}
	for i := range dangers {
		for j := range dangers[i].rules {
			r := &dangers[i].rules[j]
			for group := range strings.SplitSeq(r.programs, ", ") {
				names, subs, _ := strings.Cut(group, " ")
				for name := range strings.SplitSeq(names, "|") {
					for sub := range strings.SplitSeq(subs, "|") {
						key := strings.TrimSpace(name + " " + sub)
						index[key] = append(index[key], indexed{dangers[i].name, r})
					}
				}
			}
		}
	}
	return index
})

// candidate is a rule that may fit a call, with the words that it is held against.
type candidate struct {
	*rule
	title string // the program and its subcommand
	args  []string
}

// rulesFor are the rules that may fit a call, by the name of their danger.
func rulesFor(c call) map[string][]candidate {
	index, found := ruleIndex(), map[string][]candidate{}
	take := func(key, title string, args []string) {
		for _, r := range index[key] {
			found[r.danger] = append(found[r.danger], candidate{r.rule, title, args})
		}
	}
	take("", c.Name, c.Args)
	if c.Name == "" {
		return found
	}
	take(c.Name, c.Name, c.Args)
	if c.Name == "git" {
		_, sub, rest := c.Git()
		take("git "+sub, "git "+sub, rest)
	} else if i := slices.IndexFunc(c.Args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }); i >= 0 {
		key := c.Name + " " + c.Args[i]
		take(key, key, slices.Concat(c.Args[:i], c.Args[i+1:]))
	}
	return found
}

// finds says what of a call is refused; "" when nothing is.
func (r candidate) finds(c call) string {
	if r.run && !c.world.Run || r.fed && c.In == "" || r.env != "" && !matches(r.env, c.Env) {
		return ""
	}
	args := r.args
	if r.stdin {
		args = append(slices.Clone(args), c.In)
	}
	switch {
	case r.rule.args != "" && !matches(r.rule.args, args), r.unless != "" && matches(r.unless, args):
		return ""
	case r.check != nil:
		return r.check(c)
	case r.title == "":
		return "a command " + r.what
	}
	return r.title + " " + r.what
}

// patterns are those of rules that were asked for already, by their text.
var patterns sync.Map

// matches reports whether words match a pattern, each word on a line of its own.
func matches(text string, words []string) bool {
	p, ok := patterns.Load(text)
	if !ok {
		p, _ = patterns.LoadOrStore(text, regexp.MustCompile("(?m)"+text))
	}
	lines := make([]string, len(words))
	for i, word := range words {
		lines[i] = strings.ReplaceAll(word, "\n", " ")
	}
	return p.(*regexp.Regexp).MatchString(strings.Join(lines, "\n"))
}

// The checks: what a pattern cannot say.

func recursiveDelete(c call) string {
	targets := c.Operands()
	switch c.Name {
	case "rm":
		switch {
		case slices.Contains(c.Args, "--no-preserve-root"):
			return "rm --no-preserve-root deletes the root"
		case !c.Short("rR") && !slices.Contains(c.Args, "--recursive"): // one by one, whatever was found
			targets = slices.DeleteFunc(targets, func(t string) bool { return !strings.Contains(t, shell.Output) })
		}
	case "find":
		if !slices.Contains(c.Args, "-delete") {
			return ""
		}
		targets = c.Starts()
		if matches(`^-(i?name|i?path|i?regex|wholename)$`, c.Args) {
			targets = slices.DeleteFunc(targets, func(t string) bool { return c.Path(t) == c.world.Root })
		}
	case "rsync":
		if !matches(`^--del`, c.Args) || len(targets) < 2 {
			return ""
		}
		targets = targets[len(targets)-1:]
	}
	for _, t := range targets {
		if what := c.outside(t); what != "" {
			return c.Name + " deletes " + what
		}
	}
	return ""
}

func recursiveRights(c call) string {
	ops := c.Operands()
	for _, t := range ops[min(1, len(ops)):] {
		if what := c.outside(t); what != "" && what != "the whole project" {
			return c.Name + " -R changes " + what
		}
	}
	return ""
}

// notReading do not read the files that their arguments name, or what they do with them stays here.
var notReading = strings.Fields(
	"echo printf ls stat test [ [[ mkdir touch chmod chown find rm cd source . which export declare local " +
		"ssh ssh-keygen ssh-add git du file realpath basename dirname docker-compose pgrep pkill kill alias unset true " +
		"false exit return " +
		"ln set dotenv watch parallel sh bash dash zsh ksh")

func readsCredentials(c call) string {
	for _, name := range c.Reads {
		if what := credentialFile(c.Path(name), c.world); what != "" {
			return "it reads " + what
		}
	}
	if shell.Wraps(c.Name) || c.Name == "" || slices.Contains(notReading, c.Name) {
		return ""
	}
	ops := c.Operands()
	switch c.Name {
	case "cp", "mv", "install":
		ops = ops[:max(0, len(ops)-1)]
	case "grep", "egrep", "rg", "sed", "awk", "jq":
		if !slices.Contains(c.Args, "-e") && !slices.Contains(c.Args, "-f") {
			ops = ops[min(1, len(ops)):]
		}
	}
	for _, arg := range c.Args {
		if _, value, ok := strings.Cut(arg, "="); ok {
			ops = append(ops, value)
		}
	}
	for _, name := range ops {
		if name = strings.TrimPrefix(name, "@"); name == "" {
			continue
		}
		if what := credentialFile(c.Path(name), c.world); what != "" {
			return c.Name + " reads " + what
		}
	}
	return ""
}

func networkFile(c call) string {
	for _, name := range slices.Concat(c.Writes, c.Reads) {
		address, tcp := strings.CutPrefix(name, "/dev/tcp/")
		address, udp := strings.CutPrefix(address, "/dev/udp/")
		if (tcp || udp) && !matches(here, []string{address}) {
			return "it connects a command with " + address
		}
	}
	return ""
}

// mounts looks for directories of the machine that a container is given.
func mounts(c call) string {
	for _, v := range c.Values("-v", "--volume", "--mount") {
		from, _, _ := strings.Cut(v, ":")
		for part := range strings.SplitSeq(v, ",") {
			if key, value, ok := strings.Cut(part, "="); ok && (key == "source" || key == "src") {
				from = value
			}
		}
		from = c.Path(from)
		if from == c.world.Home || strings.HasSuffix(from, "docker.sock") || credentialFile(from, c.world) != "" ||
			slices.Contains([]string{"/", "/etc", "/root", "/home", "/var", "/usr", "/proc", "/sys", "/dev", "/boot"}, from) {
			return c.Name + " gives a container " + from
		}
	}
	return ""
}
