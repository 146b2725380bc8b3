// Package inside is what our own program does within a box, before it becomes what was meant there. It begins before
// anything else of the program does: a process is not to cost more than it must.
package inside

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Entry is the argument by which our own program is started within a box, to make it ready and become what was meant.
const Entry = "__box"

// Steps are done in a box before the program starts.
type Steps struct {
	Socket string `json:"socket,omitempty"` // where someone outside takes the listeners of this box
	// Carry are addresses of the machine that are reached at the same address in the box: "127.0.0.1:8080".
	Carry  []string `json:"carry,omitempty"`
	Layers []Layer  `json:"layers,omitempty"` // to mount
	// Read, Write and Connect are for Landlock: what may be read, what may be written, and the TCP ports that may be
	// connected to.
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
	Devices []string `json:"devices,omitempty"`
	Connect []uint16 `json:"connect,omitempty"`
	// Processes is how many the user of this box may have, as the system counts them; 0: any number.
	Processes uint64 `json:"processes,omitempty"`
	// Sockets are those that may be made; nil: any.
	Sockets *Sockets `json:"sockets,omitempty"`
	// From and To bound the ports that the system gives to servers that ask for any; 0: TCP is not restricted.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
}

// LayersDir is where a box has what its layers are made of, until they are mounted.
const LayersDir = "/run/ralph/layers"

// Layer is a directory that lies over others: what is written goes into Upper, and what does not exist is read in Lower.
// Work is an empty directory beside Upper, for the kernel.
type Layer struct {
	At    string   `json:"at"`
	Lower []string `json:"lower"`
	Upper string   `json:"upper"`
	Work  string   `json:"work"`
}

// Sockets are those that a process may make besides TCP, which Landlock holds; with Own, any but those that lead out of
// the network of a box. With Userns it may make namespaces of users, too.
type Sockets struct {
	Unix   bool `json:"unix,omitempty"`
	UDP    bool `json:"udp,omitempty"`
	Own    bool `json:"own,omitempty"`
	Userns bool `json:"userns,omitempty"`
}

// Arguments are those of our own program: what to do, what to become, and with which arguments.
func (in Steps) Arguments(program string, argv []string) []string {
	told, _ := json.Marshal(in) // strings and numbers
	return append([]string{Entry, string(told), program}, argv...)
}

// Proxied are the variables that lead everything to a proxy.
func Proxied(address string) []string {
	host, port, _ := strings.Cut(address, ":")
	url, java := "http://"+address,
		fmt.Sprintf("-Dhttp.proxyHost=%s -Dhttp.proxyPort=%s -Dhttps.proxyHost=%s -Dhttps.proxyPort=%s", host, port, host,
			port)
	none := "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + url, "HTTPS_PROXY=" + url, "ALL_PROXY=" + url, "NO_PROXY=" + none,
		"http_proxy=" + url, "https_proxy=" + url, "all_proxy=" + url, "no_proxy=" + none,
		"NODE_USE_ENV_PROXY=1", "MAVEN_OPTS=" + java, "GRADLE_OPTS=" + java,
	}
}

// With sets variables in an environment; those that the program's user set for Java stay before ours.
func With(env, more []string) []string {
	for _, entry := range more {
		name, _, _ := strings.Cut(entry, "=")
		var kept []string
		for _, old := range env {
			if value, ok := strings.CutPrefix(old, name+"="); !ok {
				kept = append(kept, old)
			} else if strings.HasSuffix(name, "_OPTS") && value != "" {
				entry = old + " " + strings.TrimPrefix(entry, name+"=")
			}
		}
		env = append(kept, entry)
	}
	return env
}
