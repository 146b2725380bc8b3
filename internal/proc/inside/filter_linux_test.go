package inside

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// machine is a filter as the kernel would run it.
func machine(t *testing.T, s Sockets, architecture string) *bpf.VM {
	t.Helper()
	var list []bpf.Instruction
	for _, f := range filter(s, kindsOf(architecture)) {
		list = append(list, bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf, K: f.K}.Disassemble())
	}
	vm, err := bpf.NewVM(list)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// asked is what the kernel shows a filter of a call. The machine reads numbers with the high byte first.
func asked(arch, call uint32, args ...uint32) []byte {
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[atCall:], call)
	binary.BigEndian.PutUint32(data[atArch:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[atArgs+8*i:], a)
		binary.BigEndian.PutUint32(data[atArgs+8*i+4:], 0xffffffff) // the upper half, which the kernel takes no notice of
	}
	return data
}

// row is a call and what the filter answers.
type row struct {
	data []byte
	want uint32
}

func holds(t *testing.T, vm *bpf.VM, of string, rows map[string]row) {
	t.Helper()
	for what, row := range rows {
		if got, err := vm.Run(row.data); err != nil || uint32(got) != row.want {
			t.Errorf("%s, %s: %x, %v, want %x", of, what, got, err, row.want)
		}
	}
}

func TestFilter(t *testing.T) {
	const flags = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	for _, architecture := range []string{"amd64", "arm64"} {
		for _, s := range []Sockets{{}, {Unix: true}, {UDP: true}, {Unix: true, UDP: true}} {
			vm := machine(t, s, architecture)
			if more := filter(s, kindsOf(architecture)); len(more) > 4096 {
				t.Fatalf("%d instructions", len(more))
			}
			answers := map[bool]uint32{true: allow, false: denied}
			unixly, datagram := answers[s.Unix], answers[s.UDP]
			for _, k := range kindsOf(architecture) {
				of := fmt.Sprintf("%s, %+v, kind %x", architecture, s, k.arch)
				holds(t, vm, of, map[string]row{
					"TCP":                   {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_STREAM|flags, 0), allow},
					"TCP by its number":     {asked(k.arch, k.socket, unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP), allow},
					"multipath TCP":         {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_STREAM, mptcp), noProto},
					"SCTP":                  {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP), denied},
					"SMC":                   {asked(k.arch, k.socket, 43, unix.SOCK_STREAM, 0), denied},
					"UDP":                   {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_DGRAM|flags, 0), datagram},
					"UDP 6 by its number":   {asked(k.arch, k.socket, unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP), datagram},
					"ping":                  {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP), denied},
					"raw":                   {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_RAW, 255), denied},
					"unix":                  {asked(k.arch, k.socket, unix.AF_UNIX, unix.SOCK_STREAM|flags, 0), unixly},
					"unix datagrams":        {asked(k.arch, k.socket, unix.AF_UNIX, unix.SOCK_DGRAM, 0), unixly},
					"the network's state":   {asked(k.arch, k.socket, unix.AF_NETLINK, unix.SOCK_RAW|flags, 0), allow},
					"audit":                 {asked(k.arch, k.socket, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), denied},
					"packets":               {asked(k.arch, k.socket, unix.AF_PACKET, unix.SOCK_RAW, 0), denied},
					"the host of a guest":   {asked(k.arch, k.socket, unix.AF_VSOCK, unix.SOCK_STREAM, 0), denied},
					"ciphers":               {asked(k.arch, k.socket, unix.AF_ALG, unix.SOCK_SEQPACKET, 0), denied},
					"a pair of streams":     {asked(k.arch, k.socketpair, unix.AF_UNIX, unix.SOCK_STREAM|flags, 0), allow},
					"a pair of packets":     {asked(k.arch, k.socketpair, unix.AF_UNIX, unix.SOCK_SEQPACKET, 0), allow},
					"a pair of datagrams":   {asked(k.arch, k.socketpair, unix.AF_UNIX, unix.SOCK_DGRAM, 0), unixly},
					"a pair of raw":         {asked(k.arch, k.socketpair, unix.AF_UNIX, unix.SOCK_RAW, 0), unixly},
					"io_uring":              {asked(k.arch, k.uring, 8), unknown},
					"sending":               {asked(k.arch, k.sendto, 3, 0, 5, unix.MSG_NOSIGNAL), allow},
					"connecting by sendto":  {asked(k.arch, k.sendto, 3, 0, 5, unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL), noOp},
					"by sendmsg":            {asked(k.arch, k.sendmsg, 3, 0, unix.MSG_FASTOPEN), noOp},
					"by sendmmsg":           {asked(k.arch, k.sendmmsg, 3, 0, 1, unix.MSG_FASTOPEN), noOp},
					"a key of the kernel's": {asked(k.arch, k.keys[2], 0), unknown},
					"a namespace of users":  {asked(k.arch, k.unshare, unix.CLONE_NEWNS|unix.CLONE_NEWUSER), refused},
					"one in another thread": {asked(k.arch, k.clone, unix.CLONE_NEWUSER|17), refused},
					"a process":             {asked(k.arch, k.clone, 17), allow},
					"with hidden flags":     {asked(k.arch, clone3), unknown},
					"anything else":         {asked(k.arch, 1), allow},
				})
				if k.socketcall != 0 {
					holds(t, vm, of, map[string]row{"socketcall": {asked(k.arch, k.socketcall, 1), denied}})
				}
			}
			holds(t, vm, architecture, map[string]row{
				"another architecture": {asked(unix.AUDIT_ARCH_S390X, 1), unknown},
				"x32":                  {asked(unix.AUDIT_ARCH_X86_64, 1<<30+41, unix.AF_UNIX), unknown},
			})
		}
	}
}

// TestFilterOfAnOwnNetwork: there only what no namespace holds is refused.
func TestFilterOfAnOwnNetwork(t *testing.T) {
	for _, architecture := range []string{"amd64", "arm64"} {
		vm := machine(t, Sockets{Own: true, Userns: true}, architecture)
		for _, k := range kindsOf(architecture) {
			of := fmt.Sprintf("%s, kind %x", architecture, k.arch)
			holds(t, vm, of, map[string]row{
				"TCP":                 {asked(k.arch, k.socket, unix.AF_INET, unix.SOCK_STREAM, 0), allow},
				"UDP":                 {asked(k.arch, k.socket, unix.AF_INET6, unix.SOCK_DGRAM, 0), allow},
				"unix":                {asked(k.arch, k.socket, unix.AF_UNIX, unix.SOCK_DGRAM, 0), allow},
				"a pair of datagrams": {asked(k.arch, k.socketpair, unix.AF_UNIX, unix.SOCK_DGRAM, 0), allow},
				"fast open":           {asked(k.arch, k.sendto, 3, 0, 5, unix.MSG_FASTOPEN), allow},
				"the host of a guest": {asked(k.arch, k.socket, unix.AF_VSOCK, unix.SOCK_STREAM, 0), denied},
				"io_uring":            {asked(k.arch, k.uring, 8), unknown},
				"a namespace":         {asked(k.arch, k.unshare, unix.CLONE_NEWUSER), allow},
				"adding a key":        {asked(k.arch, k.keys[0]), unknown},
				"asking for a key":    {asked(k.arch, k.keys[1]), unknown},
				"keyctl":              {asked(k.arch, k.keys[2], 0), unknown},
				"anything else":       {asked(k.arch, 1), allow},
			})
			if k.socketcall != 0 {
				holds(t, vm, of, map[string]row{"socketcall": {asked(k.arch, k.socketcall, socketOf), denied},
					"another of it": {asked(k.arch, k.socketcall, 2), allow}})
			}
		}
	}
}

// TestFilterIsShort: a jump leads over 255 instructions at most.
func TestFilterIsShort(t *testing.T) {
	for _, architecture := range []string{"amd64", "arm64"} {
		for _, k := range kindsOf(architecture) {
			if n := len(filter(Sockets{Unix: true, UDP: true}, []calls{k})); n > 255 {
				t.Errorf("%s, kind %x: %d instructions", architecture, k.arch, n)
			}
		}
	}
}
