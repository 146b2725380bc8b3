package hook

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/shell"
)

// category is a kind of thing that the guard refuses.
type category struct {
	name    string
	why     string // one sentence
	instead string // one sentence: what to do
	rules   []rule // calls that are refused
	inRun   []rule // calls that are refused while ralph is running
	env     string // NAME=value before a command that is refused, a pattern; "" none
	// call names what is wrong with a call if no pattern can; "" is nothing. file reports whether a file is of this kind.
	// Both can be nil.
	call func(call) string
	file func(fileEffect) bool
}

// rule is a row of the table.
//
// In args and unless every argument is a line of its own, so that ^x$ is the argument x; \A and \z are the beginning and
// the end. What the call reads on standard input, as far as it is known, is the last line, after "<".
type rule struct {
	// "rm|rimraf", or with subcommands "docker|podman volume|image", whose arguments are without the subcommand; several
	// are separated by ", "
	programs string
	args     string // what the arguments must match; "" matches everything
	unless   string // what they must not match; "" matches nothing
}

// Parts of patterns.
const (
	first  = `\A(-[^\n]*\n)*` // what follows is the first operand
	help   = `^--(help|version|list)$|^-[lV]$`
	dryRun = `^--(dry-?run(=\w+)?|help)$`
	here   = `^(\w+:(//)?)?([^/@\n]*@)?(localhost|127\.|\[?::1|0\.0\.0\.0|host\.docker\.internal|[^/:\n]*\.localhost)` // this machine
	// what a program printed, or a secret
	printed = "[" + shell.Secret + shell.Output + shell.Foreign + "]"
	gitKey  = `(?i:core\.(hookspath|fsmonitor|sshcommand|editor|pager|gitproxy|attributesfile|excludesfile|worktree)|` +
		`sequence\.editor|credential(\..*)?|include.*\.path|filter\..*|diff\..*|merge\..*\.driver|gpg\..*program|url\..*|` +
		`remote\..*\.(url|pushurl|proxy)|http\..*|protocol\..*|init\.templatedir|safe\..*|commit\.gpgsign)`
	codeShell  = `(/bin/(ba|z|da)?sh|\bpty\b|dup2|child_process|\bsh -i)`
	codeSocket = `(?i:socket|/inet/tcp|fsockopen|net\.connect)`
	languages  = "python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|osascript|pwsh"
	installs   = "install|remove|purge|upgrade|full-upgrade|dist-upgrade|autoremove|uninstall|add|del|delete|update|erase|tap"
	containers = "docker|podman|nerdctl"
)

// dangers are the kinds of things that the guard refuses, in the order in which they are searched for.
var dangers = []category{
	{
		name:    "recursive-delete",
		why:     "Deleting directories outside the project, or the project itself, cannot be taken back.",
		instead: "Delete by name, inside the project, what you made yourself.",
		call:    recursiveDelete,
	}, {
		name:    "device-write",
		why:     "Writing to a disk or another device destroys what is on it.",
		instead: "Write to a file in the project.",
		file:    deviceFile,
		rules: []rule{
			{"mkfs|mke2fs|mkswap|sfdisk|cfdisk|fdisk|parted|gdisk|sgdisk|shred|blkdiscard|wipefs|cryptsetup|hdparm", `.`, help},
			{"diskutil", `(?i)\A(erase|partition)`, ""},
		},
	}, {
		name:    "history-rewrite",
		why:     "Rewriting or pushing history can destroy the work of others, and of this run.",
		instead: "Make new commits on top; in a run, ralph pushes them.",
		rules: []rule{
			{"bfg|git-filter-repo, git filter-branch|filter-repo|fast-import", "", help},
			{"git push", `^-[a-z]*[fd]|^--(force|mirror|delete|prune)|^\+|^:.`, `^-n$|` + dryRun},
			{"git reflog", `^(expire|delete)$`, ""},
			{"git update-ref", `^(-[a-z]*d|--stdin|--delete)`, ""},
			{"git replace", `.`, `^(-l|--list)$`},
			{"git symbolic-ref", `^(-d|--delete)$|^[^-\n][^\n]*\n[^-]`, ""},
			{"git gc", `^--prune=(now|all)$`, ""},
		},
		inRun: []rule{
			{"git push", "", `^-n$|` + dryRun},
			{"git rebase", "", `^--(abort|continue|skip|quit|show-current-patch)$`},
			{"git commit", `^--amend$`, ""},
		},
	}, {
		name:    "discard-work",
		why:     "This deletes work that is in no commit.",
		instead: "Commit it, then undo single changes by editing the files.",
		rules: []rule{
			{"rm|mv|rimraf", `^([^-\n]\S*/)?\.git/?(\*\n|\*\z|$)`, ""},
			{"git clean", `^(-[a-z]*f|--force)`, `^(-[a-z]*n|--dry-run)`},
			{"git reset", `^--(hard|merge|keep)`, ""},
			{"git checkout|switch", `^(-[a-z]*f|--force|--discard-changes)`, ""},
			{"git checkout", `^--\n.|^(\.|\./|\*|:/.*)$|^--(ours|theirs)$`, `^(-b|-B|--orphan)$`},
			{"git restore", "", `^(-\w*S|--staged)`},
			{"git stash", `\A(drop|clear)$`, ""},
			{"git branch", `^-D|^-(df|fd)|^(-d|--delete)\n(.*\n)*(-f|--force)$`, ""},
			{"git worktree", `\Aremove\n(.*\n)*(-f|--force)$`, ""},
		},
	}, {
		name:    "git-tampering",
		why:     "Hooks and settings of git run programs and keep mistakes out of commits.",
		instead: "Leave them unchanged, and fix what a hook complains about.",
		file:    gitFile,
		env:     `^(GIT_CONFIG\w*|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_TEMPLATE_DIR|GIT_EXEC_PATH|GIT_ASKPASS)=|^HUSKY=0$`,
		rules: []rule{
			{"git", `^(-c|--config-env)[\n=]` + gitKey + `=`, ""},
			{"git commit|push|merge|am|rebase|cherry-pick|pull|revert", `^--no-verify$`, ""},
			{"git commit", `^-[a-ln-zA-Z]*n[a-z]*$`, ""},
			{"git config", `^` + gitKey + `\n[^-]|^((un)?set|--unset(-all)?|--re[\w-]+|--add)\n(.*\n)*` + gitKey +
				`$|^(-e|--edit|edit)$`, `^(--get.*|--list|-l|get|list)$`},
			{"git update-index", `^--(assume-unchanged|skip-worktree)$`, ""},
		},
	}, {
		name:    "privilege",
		why:     "Nothing in this project needs the rights of another user.",
		instead: "Do it as the user you are, or say in your answer what a person has to do.",
		rules: []rule{
			{"sudo|su|doas|pkexec|runuser|visudo|sudoedit|setcap|usermod|useradd|adduser|userdel|passwd|chpasswd|newgrp", "",
				`\A--(version|help)\z`},
			{"chmod", first + `([^\n]*,)?([2467][0-7]{3}|[ugo]*[+=][rwxX]*s[rwxXst]*)(,|$)`, ""},
			{"chown|chgrp", first + `([^-:.\n]*[:.])?(root|0|wheel)([:.\n]|\z)`, ""},
		},
	}, {
		name:    "permissions",
		why:     "Files that everyone can write, and changed permissions outside the project, let others in.",
		instead: "Give the owner what is needed: chmod u+w FILE, chmod +x FILE.",
		rules:   []rule{{"chmod", first + `([^\n]*,)?(0?[0-7]?[0-7][0-7][2367]|[ugo]*[ao][ugoa]*[+=][rx]*w[rwx]*)(,|$)`, ""}},
		call:    recursiveRights,
	}, {
		name:    "download-and-run",
		why:     "No one has read code that was just downloaded or decoded.",
		instead: "Download it to a file, read it, and use the project's own package manager where there is one.",
		rules: []rule{{languages, `^(-[ceErp]|--eval|--print)\n[^\n]*` + shell.Foreign + "|" + first + `[^\n<]*` +
			shell.Foreign + `|\A(-\n)?<` + shell.Foreign, ""}},
		call: func(c call) string {
			if strings.Contains(c.Name, shell.Foreign) {
				return "it runs what was downloaded or decoded"
			}
			return ""
		},
	}, {
		name:    "credentials",
		why:     "Keys, tokens and passwords are not needed for this work, and must not get into a conversation.",
		instead: "Work without them; use made-up values in tests.",
		call:    readsCredentials,
		rules: []rule{
			{"gh auth", `\Atoken$|\Astatus\n(.*\n)*(-t|--show-token)$`, ""},
			{"printenv", `\A\z|(TOKEN|SECRET|PASSWORD|PASSWD|KEY|CREDENTIALS?)$`, ""},
			{"env", `\A((-u\n.*|-.*|\w+=.*)(\n|\z))*\z`, `^(-S|--split-string|--help|--version)`},
			{"echo|printf", shell.Secret, ""},
			{"set", `\A\z`, ""},
			{"export|declare", `^-\w*p`, `^[^-\n]`},
			{"git credential", `^fill$`, ""},
			{"aws configure", `\A(get|export-credentials)$`, ""},
			{"kubectl|oc get", `\Asecret(.*\n)*(-o|--output)`, ""},
		},
	}, {
		name:    "send-out",
		why:     "Files of this machine must not be sent to others.",
		instead: "Keep results in the project; ralph publishes what was committed.",
		rules: []rule{
			{"curl", `^(-T|--upload-file)|^--data-urlencode[\n=][^\n]*@|` +
				`^(-[dF]|--data[a-z-]*|--json|--form[a-z-]*)[\n=]?(@|[^\n]*=[@<]|[^\n]*` + printed + `)`, here},
			{"curl|wget", `^\w+://([^/?\n]*` + printed + `|[^?\n]*\?[^\n]*` + printed + `)`, here},
			{"wget", `^--(post|body)-file`, here},
			{"scp|rsync", `\n(([\w.-]+@)?[\w.-]{2,}:|rsync://)[^\n]*(\n<.*)?\z`, ""},
			{"sftp|ftp|lftp|ngrok|localtunnel|cloudflared|croc|wormhole|rclone|sendmail|mail|mailx|mutt", `.`, help},
			{"nc|ncat|netcat|telnet", `^<`, here + `|^-\w*[zlhVe]|^--(help|version|exec|sh-exec|listen)`},
			{"socat", `^(?i:tcp4?|ssl|openssl):`, here + `|^(?i:exec|system|shell|pty):|-(?i:listen)`},
			{"ssh", `^<`, here},
			{"aws s3", `^(cp|sync|mv)\n[^\n]*\ns3://`, `^(cp|sync|mv)\ns3://`},
			{"gh gist|release", `\Acreate$`, ""},
			{"npm|pnpm|yarn|bun|cargo|poetry|uv|twine|gem|docker|podman|helm|vsce publish|push|upload", "", dryRun},
			{"dig|nslookup|host|ping", printed, ""},
		},
	}, {
		name:    "remote-shell",
		why:     "This lets others in: a shell over the network, or a port that listens.",
		instead: "Test servers through their own test tools, on the loopback interface.",
		call:    networkFile,
		rules: []rule{
			{"nc|ncat|netcat", `^-\w*[el]|^-c\n|^--(exec|sh-exec|lua-exec|listen)`, ""},
			{"socat", `^(?i:exec|system|shell|pty)\b|^(?i:[\w-]*listen)`, ""},
			{"ssh|autossh", `^-R`, ""},
			{"telnetd|sshd|dropbear|gotty|ttyd|wetty|tmate|chisel|msfvenom|msfconsole", "", ""},
			{languages + "|awk|gawk", `(?s)` + codeShell + `.*` + codeSocket + `|` + codeSocket + `.*` + codeShell, ""},
		},
	}, {
		name:    "kill-others",
		why:     "This ends processes that are not yours, ralph and the agent among them.",
		instead: "End what you started, by its process id.",
		rules: []rule{
			{"kill", `^-1(\n<.*)?\z|^(0|1|\$PPID)$`, `^(-l|-L|--list|-0)$|^-[sn]\n0$`},
			{"killall|killall5|skill|slay", "", help},
			{"pkill", `^(-[uUgG]|--uid|--euid|--pgroup|--inverse)|^[^\w\n-]+$|(?i)ralph|^(?i)[^\w\n]*` +
				`(claude|codex|gemini|opencode|amp|node|bun|python\d?|bash|sh|zsh|sshd?|systemd|init|docker\w*|tmux|\.[*+]?)[^\w\n]*$`, ""},
			{"fuser", `^-\w*k|^--kill`, ""},
		},
	}, {
		name:    "fork-bomb", // shell.Script has them
		why:     "Processes that start each other without an end stop the machine.",
		instead: "Start a fixed number, and wait for them.",
	}, {
		name:    "system",
		why:     "Services, start-up, timers and the files of the system are not the project's.",
		instead: "Start what you need as a child process, from the project.",
		file:    systemFile,
		rules: []rule{
			{"systemctl", `^[^-]`, `^(status|is-\w+|show|cat|list-[\w-]+|get-default|--help|--version)$`},
			{"service|rc-service", "", `^--status-all$|^\S+\nstatus$`},
			{"shutdown|reboot|halt|poweroff|telinit|init|kexec|modprobe|insmod|rmmod|umount|swapon|swapoff|iptables|ip6tables|nft|" +
				"ufw|firewall-cmd|grub-install|update-grub|efibootmgr|at|setenforce", "", help},
			{"mount|nvram", `.`, help},
			{"crontab", "", `^-l$`},
			{"launchctl", `.`, `\A(list|print|version|blame)`},
			{"sysctl", `^-\w*[wp]|^--(write|system|load)|=`, ""},
		},
	}, {
		name:    "system-packages",
		why:     "Installing for the whole machine changes the tools of everyone else.",
		instead: "Add it to the project's own dependencies, or to a virtual environment in the project.",
		rules: []rule{
			{"apt|apt-get|aptitude|brew|port|snap|apk|choco|winget|pkg|yum|dnf|microdnf|zypper|flatpak " + installs, "",
				`^(-\w*s|--dry-run|--simulate|--help)$`},
			{"pacman", `^-\w*[SRU]`, `^-\w*[sqi]`},
			{"dpkg", `^-\w*[irP]|^--(install|remove|purge|configure)`, ""},
			{"npm|pnpm|yarn|bun i|" + installs, `^-\w*g|^--(global|location=global)$`, ""},
			{"yarn global", "", ""},
			{"pip|python", `^--break-system-packages$`, ""},
			{"gem install|uninstall|update", "", `^(--user-install|--install-dir|-\w*i)`},
		},
	}, {
		name:    "persistence",
		why:     "Files that run at every login outlast this work, and run as the user.",
		instead: "Set what you need in the command itself: NAME=value COMMAND.",
		file:    startupFile,
		rules:   []rule{{"ssh-copy-id|chsh", "", help}},
	}, {
		name:    "harness",
		why:     "These files and commands control this run; they are not part of the work.",
		instead: "Do your story: edit the project, ralph/tasks.json and ralph/progress.txt, and commit.",
		file:    harnessFile,
		env:     `^RALPH_\w*=`,
		rules: []rule{
			{"export|declare|readonly|env", `^RALPH_\w*=|^(-u\n?|--unset[=\n])RALPH_`, ""},
			{"unset", `^RALPH_`, ""},
			{"ralph hook", `^install$`, help},
			{"ralph cancel", "", help},
		},
		inRun: []rule{
			{"ralph plan", "", help + `|\A(status|validate|skill)$`},
			{"ralph", "", help + `|^-[hv]$|` + first +
				`(status|bus|signature|prompt|settings|replay|doctor|completion|task|help|report|hook|plan)(\n|\z)`},
		},
	}, {
		name:    "data-destruction",
		why:     "Deleting databases and what is in a cloud cannot be taken back.",
		instead: "Use a local database that a test made, and only look at anything else.",
		rules: []rule{
			{"psql|mysql|mariadb|sqlcmd|clickhouse-client|cqlsh|cockroach|snowsql|bq",
				`(?i)\b(drop\s+(database|schema|table|keyspace|user|role)|truncate\s+(table\s+)?["\w]|delete\s+from\s)`,
				`(?i)\bdelete\s+from\b[^;]*\bwhere\b`},
			{"dropdb|dropuser", "", help},
			{"redis-cli", `(?i)\bflush(all|db)\b`, ""},
			{"mongosh|mongo", `(?i)dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}`, ""},
			{containers + " volume", `\A(prune|rm)$`, ""},
			{containers + " system|image|builder|container", `\Aprune\n(.*\n)*(-\w*a|--all|--volumes)`, ""},
			{containers + " run|create|exec|container", `^--(privileged|(pid|net|network|userns)=host|cap-add=(ALL|SYS_ADMIN))$`, ""},
			{containers + " run|create|container",
				`^(-v|--volume|--mount)[\n=]?(type=bind,)?((source|src)=)?(/(etc|root|home|var|usr|proc|sys|dev|boot)?|[^:\n]*(docker\.sock|/\.ssh|/\.aws))[:,]`, ""},
			{"terraform|tofu|terragrunt|cdk|serverless|sls|pulumi|eksctl", `^--?destroy$|^(destroy|down)$`, dryRun + `|\Aplan$`},
			{"kubectl|oc|k3s delete", `^(--all|--all-namespaces|-A)$|^(ns|namespaces?|pvc?|nodes?|crd|project|` +
				`persistentvolume(claim)?|deployments?|statefulset|all|secrets?)(/.*)?$`, dryRun},
			{"kubectl|oc drain, helm uninstall|delete", "", dryRun},
			{"aws s3", `\Arm\n(.*\n)*--recursive|\Async\n(.*\n)*--delete`, dryRun},
			{"aws|gcloud|gsutil|az|doctl|hcloud|flyctl|fly|vercel|netlify|railway|oci|heroku|gh",
				`^([\w:]+:)?(delete|terminate|destroy|remove|purge|deregister|archive|rb)(-.*)?$`, dryRun},
		},
	},
}

// breaks names what a kind of danger refuses of a call; "" when it refuses nothing.
func (c call) breaks(d *category) string {
	if d.env != "" && matches(d.env, c.Env) {
		return "a command with such an environment"
	}
	rules := d.rules
	if c.world.Run {
		rules = slices.Concat(rules, d.inRun)
	}
	sub, rest := c.sub()
	for _, r := range rules {
		for group := range strings.SplitSeq(r.programs, ", ") {
			names, subs, some := strings.Cut(group, " ")
			args := c.Args
			if !oneOf(names, c.Name) || some && !oneOf(subs, sub) {
				continue
			}
			if some {
				args = rest
			}
			if c.In != "" {
				args = append(slices.Clone(args), "<"+c.In)
			}
			if (r.args == "" || matches(r.args, args)) && (r.unless == "" || !matches(r.unless, args)) {
				return strings.Join(append([]string{c.Name}, c.Args...), " ")
			}
		}
	}
	if d.call == nil {
		return ""
	}
	return d.call(c)
}

// oneOf reports whether a word is in a list that is separated by "|".
func oneOf(list, word string) bool {
	return word != "" && strings.Contains("|"+list+"|", "|"+word+"|")
}

// patterns are the compiled patterns of rules, by their text.
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

// What no pattern can say.

func recursiveDelete(c call) string {
	targets := c.Operands()
	switch c.Name {
	case "rm":
		if !c.Short("rR") && !slices.Contains(c.Args, "--recursive") { // one by one, whatever was found
			targets = slices.DeleteFunc(targets, func(t string) bool { return !strings.Contains(t, shell.Output) })
		}
	case "rimraf":
	case "find":
		if !slices.Contains(c.Args, "-delete") {
			return ""
		}
		targets = slices.Clone(c.Starts())
		if matches(`^-(i?name|i?path|i?regex|wholename)$`, c.Args) {
			targets = slices.DeleteFunc(targets, func(t string) bool { return c.Path(t) == c.world.Root })
		}
	default:
		return ""
	}
	for _, t := range targets {
		if what := c.outside(t); what != "" {
			return c.Name + " deletes " + what
		}
	}
	return ""
}

func recursiveRights(c call) string {
	if !oneOf("chmod|chown|chgrp|setfacl|chattr", c.Name) || !c.Short("R") && !slices.Contains(c.Args, "--recursive") {
		return ""
	}
	ops := c.Operands()
	for _, t := range ops[min(1, len(ops)):] {
		if what := c.outside(t); what != "" && what != "the whole project" {
			return c.Name + " -R changes " + what
		}
	}
	return ""
}

// notReading do not read the files that their arguments name, or keep what they read to themselves.
var notReading = strings.Fields(`echo printf ls stat test [ [[ mkdir touch chmod chown find rm cd source . which export
	declare local ssh ssh-keygen ssh-add git du file realpath basename dirname docker-compose pgrep pkill kill unset true
	false exit return ln set dotenv sh bash dash zsh ksh`)

func readsCredentials(c call) string {
	ops := c.Operands()
	switch {
	case c.Name == "" || shell.Wraps(c.Name) || slices.Contains(notReading, c.Name):
		ops = nil
	case oneOf("cp|mv|install", c.Name):
		ops = ops[:max(0, len(ops)-1)]
	case oneOf("grep|egrep|rg|sed|awk|jq", c.Name):
		ops = ops[min(1, len(ops)):]
	}
	for _, name := range slices.Concat(c.Reads, ops) {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "if="), "@")
		if name != "" && secretFile(c.Path(name), c.world) {
			return cmp.Or(c.Name, "it") + " reads " + c.Path(name)
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
