package sandbox

import "encoding/json"

// Entry is the argument by which our own program is started within a box, to make it ready and become what was meant.
const Entry = "__box"

// Inside is what there is to do in a box before the program begins.
type Inside struct {
	Look   bool   `json:"look,omitempty"`   // whether the program could begin is all that is asked
	Socket string `json:"socket,omitempty"` // where somebody outside takes the listeners of this box
	// Carry are addresses of the machine that are reached at the same address in the box: "127.0.0.1:8080".
	Carry []string `json:"carry,omitempty"`
	// Read, Write and Connect are for Landlock: what may be read, what may be written, and the TCP ports that may be connected to.
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
	Devices []string `json:"devices,omitempty"`
	Connect []uint16 `json:"connect,omitempty"`
	// From and To bound the ports that the system gives to servers that ask for any; 0: TCP is not restricted.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
}

// arguments are those of our own program: what to do, what to become, and with which arguments.
func (in Inside) arguments(program string, argv []string) []string {
	told, _ := json.Marshal(in) // strings and numbers
	return append([]string{Entry, string(told), program}, argv...)
}
