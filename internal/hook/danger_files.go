package hook

import (
	"path"
	"slices"
	"strings"
)

func recursiveDelete(c command) string {
	var targets []string
	switch c.name {
	case "rm":
		switch {
		case c.has("--no-preserve-root"):
			return "rm --no-preserve-root deletes the root"
		case c.short("rR") || c.has("--recursive"):
			targets = c.operands()
		default: // one by one, whatever was found
			targets = slices.DeleteFunc(c.operands(), func(t string) bool { return !strings.Contains(t, output) })
		}
	case "rimraf", "del-cli", "trash":
		targets = c.operands()
	case "find":
		if !c.has("-delete") {
			return ""
		}
		targets = findStart(c)
		if slices.ContainsFunc(c.args, func(arg string) bool {
			return slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename"}, arg)
		}) {
			targets = slices.DeleteFunc(targets, func(t string) bool { return absolute(c.cwd, t) == c.world.Root })
		}
	case "rsync":
		if to := c.operands(); (c.has("--delete", "--del", "--delete-after", "--delete-before")) && len(to) > 1 {
			targets = to[len(to)-1:]
		}
	}
	for _, t := range targets {
		if what := outside(c.cwd, t, c.world); what != "" {
			return c.name + " deletes " + what
		}
	}
	return ""
}

var (
	harmlessDevice = lazy(`^/dev/(null|zero|full|stdin|stdout|stderr|tty|random|urandom|ptmx|fd(/.*)?|shm/.*|pts/.*|tcp/.*|udp/.*)$`)
	diskTools      = []string{"mke2fs", "mkswap", "sfdisk", "cfdisk", "wipefs", "shred", "blkdiscard", "sgdisk", "lvremove", "vgremove", "pvremove", "newfs"}
)

func deviceTool(c command) string {
	sub, _ := c.first()
	switch {
	case slices.Contains(diskTools, c.name), c.name == "mkfs", strings.HasPrefix(c.name, "mkfs."):
		if c.name == "wipefs" && len(c.args) == 1 || c.has("-l", "--list", "--help", "--version") {
			return ""
		}
		return c.name + " overwrites a disk or a file for good"
	case slices.Contains([]string{"fdisk", "parted", "gdisk"}, c.name) && !c.has("-l", "--list"):
		return c.name + " changes partitions"
	case c.name == "diskutil" && (strings.HasPrefix(strings.ToLower(sub), "erase") || strings.HasPrefix(strings.ToLower(sub), "partition")):
		return "diskutil " + sub
	case c.name == "cryptsetup" && strings.HasPrefix(strings.ToLower(sub), "luks"):
		return "cryptsetup " + sub
	case c.name == "hdparm" && c.has("--security-erase", "--trim-sector-ranges"):
		return "hdparm erases a disk"
	}
	return ""
}

func deviceFile(t touch) string {
	if strings.HasPrefix(t.path, "/dev/") && !harmlessDevice.MatchString(t.path) && !t.gone {
		return t.path + " is a device"
	}
	return ""
}

var everybody = lazy(`^(0?[0-7]?[0-7][0-7][2367]|[ugo]*[ao][ugoa]*[+=][rx]*w[rwx]*|[+=]?rwxrwxrwx)$`)

func permissions(c command) string {
	ops := c.operands()
	if len(ops) == 0 {
		return ""
	}
	switch c.name {
	case "chmod":
		for mode := range strings.SplitSeq(ops[0], ",") {
			if everybody.MatchString(mode) {
				return "chmod " + ops[0] + " lets everybody write"
			}
		}
	case "chown", "chgrp", "setfacl", "chattr":
	default:
		return ""
	}
	if c.short("R") || c.has("--recursive") {
		for _, t := range ops[1:] {
			if what := outside(c.cwd, t, c.world); what != "" && what != "the whole project" {
				return c.name + " -R changes " + what
			}
		}
	}
	return ""
}

// secretFiles are below the home.
var secretFiles = []string{".aws/", ".azure/", ".config/gcloud/", ".config/gh/", ".kube/", ".gnupg/", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials",
	".docker/config.json", ".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".gemini/.env", ".local/share/opencode/auth.json",
	".cargo/credentials", ".cargo/credentials.toml", ".terraform.d/", ".vault-token", ".pgpass", ".my.cnf", ".password-store/", ".bash_history", ".zsh_history"}

var (
	secretPath = lazy(`^(/etc/(g?shadow-?|sudoers(\.d/.*)?|ssh/ssh_host_.*_key)|/proc/([^/]+|self)/(environ|mem)|/run/secrets/.*|/var/run/secrets/.*)$`)
	keyName    = lazy(`^(id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.*\.(pem|p12|pfx|kdbx))$`)
	dotEnv     = lazy(`^\.env(\.(local|production|prod|development|dev|staging|secret|secrets))?$`)
)

// credentialFile says which secret an absolute path, which may be a pattern, leads to; "" when to none.
func credentialFile(name string, w *World) string {
	if rel := below(w.Home, name); rel != "" {
		if in, ok := strings.CutPrefix(rel, ".ssh"); ok && !strings.HasSuffix(in, ".pub") && !strings.Contains(in, "known_hosts") && (in == "" || in[0] == '/') {
			return name
		}
		for _, s := range secretFiles {
			if rel == strings.TrimSuffix(s, "/") || strings.HasSuffix(s, "/") && strings.HasPrefix(rel, s) {
				return name
			}
		}
	}
	base := path.Base(name)
	if strings.ContainsAny(base, "*?[") && strings.HasPrefix(base, ".e") {
		if ok, err := path.Match(base, ".env"); ok && err == nil {
			return name
		}
	}
	if secretPath.MatchString(name) || keyName.MatchString(base) && !inside(w.Root, name) || dotEnv.MatchString(base) {
		return name
	}
	return ""
}

// names do not read the files that their arguments name, or what they do with them stays here.
var names = []string{"echo", "printf", "ls", "stat", "test", "[", "[[", "mkdir", "touch", "chmod", "chown", "find", "rm", "cd", "source", ".", "which", "export", "declare", "local", "ssh", "ssh-keygen", "ssh-add",
	"git", "du", "file", "realpath", "basename", "dirname", "docker-compose", "pgrep", "pkill", "kill", "alias", "unset", "true", "false", "exit", "return", "ln", "set", "dotenv"}

func credentials(c command) string {
	for _, name := range c.reads {
		if what := credentialFile(absolute(c.cwd, name), c.world); what != "" {
			return "it reads " + what
		}
	}
	if what := tellsSecret(c); what != "" {
		return what
	}
	if slices.Contains(names, c.name) || wrappers[c.name].line || shells[c.name] {
		return ""
	}
	if _, wraps := wrappers[c.name]; wraps {
		return ""
	}
	ops := c.operands()
	switch {
	case (c.name == "cp" || c.name == "mv" || c.name == "install") && len(ops) > 0:
		ops = ops[:len(ops)-1]
	case slices.Contains([]string{"grep", "egrep", "rg", "sed", "awk", "jq"}, c.name) && len(ops) > 0 && !c.has("-e", "-f"):
		ops = ops[1:]
	}
	for _, arg := range append(ops, c.args...) {
		_, value, assigned := strings.Cut(arg, "=")
		for _, name := range []string{arg, value} {
			name = strings.TrimPrefix(name, "@")
			if name == "" || name == value && !assigned || strings.HasPrefix(name, "-") || name == arg && !slices.Contains(ops, arg) {
				continue
			}
			if what := credentialFile(absolute(c.cwd, name), c.world); what != "" {
				return c.name + " reads " + what
			}
		}
	}
	return ""
}

// tellsSecret are the commands that print a secret, or all of the environment.
func tellsSecret(c command) string {
	sub, rest := c.first()
	second := ""
	if len(rest) > 0 {
		second = rest[0]
	}
	switch c.name {
	case "gh":
		if sub == "auth" && (second == "token" || second == "status" && (c.short("t") || c.has("--show-token"))) {
			return "gh prints its token"
		}
	case "printenv":
		if len(c.args) == 0 {
			return "printenv prints the whole environment"
		}
		for _, name := range c.operands() {
			if secretName.MatchString(name) {
				return "printenv prints " + name
			}
		}
	case "env":
		if rest, _ := wrappers["env"].rest(c.args); len(rest) == 0 && !c.has("-S", "--split-string", "--help", "--version") {
			return "env prints the whole environment"
		}
	case "echo", "printf":
		if strings.Contains(strings.Join(c.args, " "), secret) {
			return c.name + " prints a variable that holds a secret"
		}
	case "set":
		if len(c.args) == 0 {
			return "set prints every variable"
		}
	case "export", "declare":
		if c.short("p") && len(c.operands()) == 0 {
			return c.name + " -p prints the whole environment"
		}
	case "security":
		if strings.HasPrefix(sub, "find-") && c.short("w") || sub == "dump-keychain" {
			return "security prints a password"
		}
	case "git":
		if sub, rest := c.git(); sub == "credential" && slices.Contains(rest.operands(), "fill") {
			return "git prints a password"
		}
	case "aws":
		if sub == "configure" && (second == "get" || second == "export-credentials") {
			return "aws prints its keys"
		}
	case "gcloud":
		if sub == "auth" && strings.HasPrefix(second, "print-") || sub == "auth" && second == "application-default" && c.has("print-access-token") {
			return "gcloud prints its token"
		}
	case "kubectl", "oc":
		if sub == "get" && (strings.HasPrefix(second, "secret")) && len(c.values("-o", "--output")) > 0 {
			return "kubectl prints a secret"
		}
	case "pass", "op", "vault", "bw":
		if slices.Contains([]string{"show", "read", "get"}, sub) {
			return c.name + " prints a secret"
		}
	}
	return ""
}
