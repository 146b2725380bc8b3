package git

import (
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"
)

// safe is the configuration of every command of ours. No hook, no monitor, no submodule; a file of the repository
// cannot say otherwise.
var safe = []pair{
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"advice.detachedHead", "false"},
	{"core.quotePath", "false"},
	{"protocol.ext.allow", "never"},
	{"core.useReplaceRefs", "false"}, // which make one commit look like another
	{"core.trustCTime", "true"},      // no one sets a file's time of change, so no edit hides behind an old date
	{"core.checkStat", "default"},
	{"core.ignoreStat", "false"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
}

// throwaway makes the bot's repository quick rather than durable: what counts is pushed, and no one opens it after its
// run.
var throwaway = []pair{{"core.fsync", "none"}, {"fastimport.unpackLimit", "1"}}

// hostConfig is what the bot's git reads instead of the machine's and the user's configuration. Only what git must find
// in a file is here: git takes safe.directory for its own children from nowhere else.
const hostConfig = `[safe]
	directory = *
[protocol]
	allow = never
[protocol "https"]
	allow = always
[protocol "http"]
	allow = always
[protocol "file"]
	allow = always
[protocol "ssh"]
	allow = always
[credential]
	helper =
[core]
	attributesFile = /dev/null
	sharedRepository = 0644
	commitGraph = false
[http]
	lowSpeedLimit = 1000
	lowSpeedTime = 120
`

// environment is what both shapes start git with: the given one without anything that steers git, then our own.
func environment(given []string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, entry := range given {
		if name, _, ok := strings.Cut(entry, "="); ok && (!strings.HasPrefix(name, "GIT_") || name == "GIT_SSL_CAINFO") &&
			name != "SSH_ASKPASS" {
			env = append(env, entry)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
		"GIT_MERGE_AUTOEDIT=no",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null/none") // no such file, without a word about it
}

// located are variables of the environment that lead git to another repository than the one it is in.
var located = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES"}

// usersEnvironment is what git would read its user's identity by: the given environment as it is, in the repository
// that we are in.
func usersEnvironment(given []string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, entry := range given {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(located, name) && !strings.HasPrefix(name, "GIT_TRACE") {
			env = append(env, entry)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0")
}

// usersDoor is what git is started with in the user's own repository: what both shapes have, and the files of
// configuration that the user names. Commands that only read leave the index as it is.
func usersDoor(given []string) []string {
	env := append(environment(given), "GIT_OPTIONAL_LOCKS=0")
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
		if v := value(given, name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// botEnvironment shuts out every file of configuration but ours.
func botEnvironment(o Options) []string {
	return append(environment(o.Env),
		"HOME="+o.Root, "XDG_CONFIG_HOME="+filepath.Join(o.Root, "none"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(o.Root, "gitconfig"),
		"GIT_NO_LAZY_FETCH=1",
	)
}

// identity names who the commits are by.
func identity(id Identity) []string {
	return []string{
		"GIT_AUTHOR_NAME=" + id.Name, "GIT_AUTHOR_EMAIL=" + id.Email,
		"GIT_COMMITTER_NAME=" + id.Name, "GIT_COMMITTER_EMAIL=" + id.Email,
	}
}

// credential is how the remote knows us. The key holds the whole URL, so that no header a file gives for the same
// server is sent too: the longest match counts, and an empty value first drops what others gave (actions/checkout
// leaves one behind).
func (r Remote) credential() []pair {
	if r.Token == "" {
		return nil
	}
	name := r.Username
	if name == "" {
		name = "x-access-token"
	}
	key := "http." + r.URL + ".extraheader"
	basic := base64.StdEncoding.EncodeToString([]byte(name + ":" + r.Token))
	return []pair{{key, ""}, {key, "Authorization: Basic " + basic}}
}
