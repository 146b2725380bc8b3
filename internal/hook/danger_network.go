package hook

import (
	"net/url"
	"slices"
	"strings"
)

// interpreters run what they read, or what an option says.
var interpreter = lazy(`^(python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|ruby|perl|php|lua|osascript|pwsh|powershell|tclsh|rscript)$`)

// codeOptions give an interpreter its program.
var codeOptions = []string{"-c", "-e", "-E", "-r", "-p", "--eval", "--print", "-Command", "-EncodedCommand"}

func (c command) code() string {
	return strings.Join(c.values(codeOptions...), "\n")
}

func runsForeign(c command) string {
	switch {
	case c.name == "":
		return ""
	case c.name == "eval" && foreign(strings.Join(c.args, " ")):
		return "eval runs what was downloaded or decoded"
	case foreign(c.word):
		return "it runs what was downloaded or decoded"
	case interpreter.MatchString(c.name):
		ops := c.operands(codeOptions...)
		if foreign(c.code()) || len(ops) > 0 && foreign(ops[0]) || len(c.values(codeOptions...)) == 0 && (len(ops) == 0 || ops[0] == "-") && foreign(c.in) {
			return c.name + " runs what was downloaded or decoded"
		}
	}
	return ""
}

// local reports whether an address is of this machine.
func local(address string) bool {
	host := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host = u.Host
	} else if u, err := url.Parse("http://" + address); err == nil && u.Host != "" {
		host = u.Host
	}
	if u, err := url.Parse("http://" + host); err == nil {
		host = u.Hostname()
	}
	host = strings.ToLower(host)
	return host == "localhost" || host == "::1" || host == "0.0.0.0" || host == "host.docker.internal" || strings.HasPrefix(host, "127.") || strings.HasSuffix(host, ".localhost")
}

var (
	connects    = lazy(`(?i)socket|/inet/tcp|fsockopen|TCPSocket|net\.connect`)
	startsShell = lazy(`/bin/(ba|z|da)?sh|\bpty\b|dup2|\bcmd\.exe|child_process|shell_exec|\bsh -i`)
)

// remotePath is host:path of scp and rsync.
var remotePath = lazy(`^([\w.-]+@)?[\w.-]{2,}:`)

func sendOut(c command) string {
	if remoteShell(c) != "" {
		return "" // which is worse
	}
	ops := c.operands()
	sub, rest := c.first()
	switch c.name {
	case "curl":
		return uploaded(c)
	case "wget":
		if len(c.values("--post-file", "--body-file")) > 0 && !slices.ContainsFunc(ops, local) {
			return "wget sends a file"
		}
		return addressed(c)
	case "http", "https", "xh":
		if !slices.ContainsFunc(ops, local) && slices.ContainsFunc(ops, func(o string) bool {
			return strings.Contains(o, "@") && !strings.Contains(o, "://") || strings.Contains(o, ":=@")
		}) {
			return c.name + " sends a file"
		}
	case "scp", "rsync":
		if n := len(ops); n > 1 && (remotePath.MatchString(ops[n-1]) || strings.HasPrefix(ops[n-1], "rsync://")) {
			return c.name + " sends files to " + ops[n-1]
		}
	case "sftp", "ftp", "lftp", "tftp", "ncftpput", "ngrok", "localtunnel", "lt", "cloudflared", "croc", "wormhole", "rclone", "sendmail", "mail", "mailx", "mutt", "swaks", "magic-wormhole":
		if c.has("--version", "--help") || len(c.args) == 0 && c.in == "" {
			return ""
		}
		return c.name + " sends out of this machine"
	case "nc", "ncat", "netcat", "telnet", "socat":
		if c.short("zl") || len(ops) == 0 || c.name != "socat" && c.in == "" || slices.ContainsFunc(ops, local) || c.name == "socat" && !slices.ContainsFunc(ops, func(o string) bool {
			return strings.Contains(strings.ToLower(o), "tcp:") || strings.Contains(strings.ToLower(o), "ssl:") || strings.Contains(strings.ToLower(o), "tcp4:")
		}) || c.has("--version", "--help") || c.short("hV") {
			return ""
		}
		return c.name + " sends out of this machine"
	case "ssh":
		if c.in != "" && len(ops) > 0 && !local(ops[0]) {
			return "ssh sends what it reads to " + ops[0]
		}
	case "aws":
		if sub == "s3" && len(rest) > 2 && (rest[0] == "cp" || rest[0] == "sync" || rest[0] == "mv") && strings.HasPrefix(rest[2], "s3://") && !strings.HasPrefix(rest[1], "s3://") {
			return "aws sends files to " + rest[2]
		}
	case "gsutil", "az", "gcloud":
		if slices.ContainsFunc(ops, func(o string) bool { return o == "cp" || o == "upload" || o == "upload-batch" }) && (strings.HasPrefix(ops[len(ops)-1], "gs://") || slices.Contains(ops, "upload") || slices.Contains(ops, "upload-batch")) {
			return c.name + " sends files"
		}
	case "gh":
		if (sub == "gist" || sub == "release") && len(rest) > 0 && rest[0] == "create" {
			return "gh publishes a " + sub
		}
	case "npm", "pnpm", "yarn", "bun", "cargo", "poetry", "uv", "twine", "gem", "docker", "podman", "helm", "mvn", "vsce":
		if slices.Contains([]string{"publish", "push", "upload", "deploy"}, sub) && !c.has("--dry-run", "--help") {
			return c.name + " " + sub + " publishes"
		}
	case "dig", "nslookup", "host", "ping":
		if strings.Contains(strings.Join(c.args, " "), output) {
			return c.name + " puts what a program prints into a name"
		}
	}
	return ""
}

// uploaded says what curl sends of this machine's files, or of what programs print.
func uploaded(c command) string {
	if slices.ContainsFunc(append(c.operands(), c.values("--url")...), local) {
		return ""
	}
	for _, data := range c.values("-d", "--data", "--data-binary", "--data-raw", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "--form-string", "--url-query") {
		if strings.ContainsAny(data, output+secret+decoded) {
			return "curl sends what a program prints, or a secret"
		}
		_, value, named := strings.Cut(data, "=")
		if strings.HasPrefix(data, "@") || named && (strings.HasPrefix(value, "@") || strings.HasPrefix(value, "<")) || strings.Contains(data, "@") && len(c.values("--data-urlencode")) > 0 {
			return "curl sends a file"
		}
	}
	if len(c.values("-T", "--upload-file")) > 0 {
		return "curl sends a file"
	}
	return addressed(c)
}

// addressed looks for what programs print in an address: as the name of a host, or behind the question mark.
func addressed(c command) string {
	for _, address := range c.operands("-H", "--header", "-o", "-O", "-A", "-e", "-u", "-X", "-x", "--max-time", "-m", "-w") {
		if !strings.Contains(address, "://") || local(address) {
			continue
		}
		_, rest, _ := strings.Cut(address, "://")
		host, _, _ := strings.Cut(rest, "/")
		_, query, _ := strings.Cut(rest, "?")
		if strings.ContainsAny(host+query, output+secret+decoded) {
			return c.name + " sends what a program prints, or a secret, in an address"
		}
	}
	return ""
}

func remoteShell(c command) string {
	for _, name := range append(c.writes, c.reads...) {
		address, ok := strings.CutPrefix(name, "/dev/tcp/")
		if !ok {
			address, ok = strings.CutPrefix(name, "/dev/udp/")
		}
		if host, _, _ := strings.Cut(address, "/"); ok && !local(host) {
			return "it connects a command with " + address
		}
	}
	ops := c.operands()
	switch c.name {
	case "nc", "ncat", "netcat":
		switch {
		case c.short("e") || c.has("--exec", "--sh-exec", "--lua-exec") || c.short("c") && len(c.values("-c")) > 0:
			return c.name + " runs a command for whoever connects"
		case c.short("l") || c.has("--listen"):
			return c.name + " listens"
		}
	case "socat":
		for _, o := range ops {
			kind, _, _ := strings.Cut(strings.ToLower(o), ":")
			if slices.Contains([]string{"exec", "system", "shell", "pty"}, kind) || strings.Contains(kind, "listen") {
				return "socat " + o
			}
		}
	case "ssh", "autossh":
		if len(c.values("-R")) > 0 {
			return "ssh -R lets others in"
		}
	case "telnetd", "sshd", "dropbear", "gotty", "ttyd", "wetty", "tmate", "pwncat", "chisel", "msfvenom", "msfconsole":
		return c.name + " lets others in"
	}
	if interpreter.MatchString(c.name) || c.name == "awk" || c.name == "gawk" {
		code := c.code() + strings.Join(ops, "\n")
		if connects.MatchString(code) && startsShell.MatchString(code) {
			return c.name + " connects a shell with the network"
		}
	}
	return ""
}
