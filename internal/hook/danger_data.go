package hook

import (
	"slices"
	"strings"
)

var (
	sqlPrograms = []string{"psql", "mysql", "mariadb", "sqlcmd", "clickhouse-client", "cqlsh", "cockroach", "snowsql", "bq", "usql", "pgcli", "mycli"}
	dropsAll    = lazy(`(?is)\b(drop\s+(database|schema|table|tablespace|owned|keyspace|user|role)|truncate\s+(table\s+)?["\w]|flush\s+privileges)`)
	deletesAll  = lazy(`(?is)\bdelete\s+from\s+[^;]*`)
	flushes     = lazy(`(?i)\bflush(all|db)\b`)
	dropsMongo  = lazy(`(?i)dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}`)
	hasWhere    = lazy(`(?i)\bwhere\b`)
)

func dataDestruction(c command) string {
	if what := databases(c); what != "" {
		return what
	}
	if what := containers(c); what != "" {
		return what
	}
	return clouds(c)
}

func databases(c command) string {
	said := strings.Join(c.args, " ") + "\n" + c.in
	switch {
	case slices.Contains(sqlPrograms, c.name):
		if what := dropsAll.Regexp().FindString(said); what != "" {
			return c.name + " runs " + what
		}
		for _, what := range deletesAll.Regexp().FindAllString(said, -1) {
			if !hasWhere.MatchString(what) {
				return c.name + " deletes every row of a table"
			}
		}
	case c.name == "dropdb" || c.name == "dropuser" || c.name == "mysqladmin" && slices.Contains(c.args, "drop"):
		return c.name + " deletes a database"
	case c.name == "redis-cli" && flushes.MatchString(said):
		return "redis-cli deletes everything"
	case (c.name == "mongosh" || c.name == "mongo") && dropsMongo.MatchString(said):
		return c.name + " deletes a database"
	}
	return ""
}

func containers(c command) string {
	sub, rest := c.first()
	second := ""
	if len(rest) > 0 {
		second = rest[0]
	}
	if c.name != "docker" && c.name != "podman" && c.name != "nerdctl" {
		return ""
	}
	switch {
	case second == "prune" && slices.Contains([]string{"system", "volume", "image", "builder", "container"}, sub):
		if sub == "volume" || c.short("a") || c.has("--all", "--volumes") {
			return c.name + " " + sub + " prune deletes what others use"
		}
	case sub == "volume" && second == "rm", sub == "swarm" && second == "leave":
		return c.name + " " + sub + " " + second
	case sub == "run" || sub == "create" || sub == "exec" || sub == "container":
		if c.has("--privileged", "--pid=host", "--net=host", "--network=host", "--userns=host") || c.has("--cap-add=ALL", "--cap-add=SYS_ADMIN") {
			return c.name + " " + sub + " gives a container the rights of the machine"
		}
		for _, v := range append(c.values("-v", "--volume"), c.values("--mount")...) {
			from, _, _ := strings.Cut(v, ":")
			for part := range strings.SplitSeq(v, ",") {
				if name, ok := strings.CutPrefix(part, "source="); ok {
					from = name
				} else if name, ok := strings.CutPrefix(part, "src="); ok {
					from = name
				}
			}
			from = absolute(c.cwd, from)
			if from == "/" || strings.HasSuffix(from, "docker.sock") || slices.Contains([]string{"/etc", "/root", "/home", "/var", "/usr", "/proc", "/sys", "/dev", "/boot"}, from) || from == c.world.Home || credentialFile(from, c.world) != "" {
				return c.name + " " + sub + " gives a container " + from
			}
		}
	}
	return ""
}

var destroys = lazy(`^(delete|terminate|destroy|remove|purge|deregister|nuke)(-.*)?$`)

func clouds(c command) string {
	sub, rest := c.first()
	all := append([]string{sub}, rest...)
	second := ""
	if len(rest) > 0 {
		second = rest[0]
	}
	if c.has("--dry-run", "--dryrun", "--dry-run=client", "--dry-run=server", "--help") {
		return ""
	}
	switch c.name {
	case "terraform", "tofu", "terragrunt", "pulumi", "cdk", "serverless", "sls", "copilot", "eksctl":
		switch {
		case slices.Contains(all, "destroy") || slices.Contains(all, "down") && c.name == "pulumi" || c.has("-destroy", "--destroy") && sub != "plan":
			return c.name + " destroys what is deployed"
		case c.name == "eksctl" && sub == "delete", strings.HasPrefix(c.name, "t") && sub == "state" && second == "rm", sub == "remove" && c.name != "cdk" && c.name != "pulumi":
			return c.name + " " + sub
		}
	case "kubectl", "oc", "k3s":
		kinds := []string{"ns", "namespace", "namespaces", "pv", "pvc", "node", "nodes", "crd", "project", "persistentvolumeclaim", "persistentvolume", "deployment", "deployments", "statefulset", "all", "secret", "secrets"}
		if sub == "delete" && (c.has("--all", "--all-namespaces") || c.short("A") || slices.ContainsFunc(rest, func(k string) bool { kind, _, _ := strings.Cut(k, "/"); return slices.Contains(kinds, kind) })) {
			return c.name + " deletes " + strings.Join(rest, " ")
		}
		if sub == "drain" {
			return c.name + " drain"
		}
	case "helm":
		if sub == "uninstall" || sub == "delete" {
			return "helm " + sub
		}
	case "aws":
		if sub == "s3" && (second == "rb" || second == "rm" && c.has("--recursive") || second == "sync" && c.has("--delete")) || len(rest) > 0 && destroys.MatchString(second) {
			return "aws " + sub + " " + second
		}
	case "gcloud", "az", "doctl", "ibmcloud", "linode-cli", "hcloud", "scw", "flyctl", "fly", "vercel", "netlify", "railway", "oci", "aliyun", "bq":
		if slices.ContainsFunc(all, destroys.MatchString) {
			return c.name + " deletes what is deployed"
		}
	case "heroku":
		if strings.HasSuffix(sub, ":destroy") || sub == "pg:reset" || strings.HasSuffix(sub, ":delete") {
			return "heroku " + sub
		}
	case "gsutil":
		if slices.Contains(all, "rb") || slices.Contains(all, "rm") && (c.short("rR") || strings.Contains(strings.Join(c.args, " "), "*")) {
			return "gsutil deletes what is stored"
		}
	case "gh":
		if (sub == "repo" || sub == "release" || sub == "secret" || sub == "variable") && slices.Contains(rest, "delete") || sub == "repo" && slices.Contains(rest, "archive") ||
			sub == "api" && slices.ContainsFunc(c.values("-X", "--method"), func(m string) bool { return strings.EqualFold(m, "DELETE") }) {
			return "gh deletes on GitHub"
		}
	}
	return ""
}
