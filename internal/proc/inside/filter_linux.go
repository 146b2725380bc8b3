package inside

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the numbers that the calls of the filter have for programs of one kind; 0: they have no such call.
type calls struct {
	arch                                  uint32 // AUDIT_ARCH_*
	most                                  uint32 // of all numbers; what is above is another kind; 0: any
	socket, socketpair, socketcall, uring uint32
	sendto, sendmsg, sendmmsg             uint32
	clone, unshare                        uint32
	keys                                  []uint32 // add_key, request_key and keyctl
}

// Where a filter finds a call: its number, the kind of the program, and the lower halves of its arguments, which are
// all that the kernel takes of a number.
const (
	atCall = 0
	atArch = 4
	atArgs = 16
)

// The answers of the filter.
const (
	allow   = unix.SECCOMP_RET_ALLOW
	denied  = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noProto = unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)
	noOp    = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
)

// program is a filter in the making.
type program []unix.SockFilter

func load(at uint32) program {
	return program{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}}
}

func arg(n uint32) program { return load(atArgs + 8*n) }

func and(bits uint32) program {
	return program{{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: bits}}
}

func answer(with uint32) program { return program{{Code: unix.BPF_RET | unix.BPF_K, K: with}} }

// when does something where what was loaded compares so with a number; body has to end with an answer.
func when(comparison uint16, number uint32, body ...program) program {
	then := join(body...)
	return append(program{{Code: unix.BPF_JMP | comparison | unix.BPF_K, K: number, Jf: uint8(len(then))}}, then...)
}

func is(number uint32, body ...program) program { return when(unix.BPF_JEQ, number, body...) }

func join(parts ...program) (all program) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// filter lets a process make sockets for TCP, pairs of sockets that are connected to each other alone, and those by
// which it learns about its network; and of others what s says. io_uring makes sockets past any filter, and fast open
// connects past Landlock. The keys that the kernel keeps for a user are not shown. In a namespace of users a process
// has every right, and with it all of the kernel that only root can reach otherwise.
func filter(s Sockets, kinds []calls) (p program) {
	for _, k := range kinds {
		body := join(load(atCall), when(unix.BPF_JGE, k.above(), answer(unknown)), k.call(k.uring, answer(unknown)))
		for _, number := range k.keys {
			body = join(body, is(number, answer(unknown)))
		}
		if !s.Userns { // a program whose flags no filter sees takes the older call
			body = join(body, is(clone3, answer(unknown)), is(k.clone, newUser()), is(k.unshare, newUser()))
		}
		if s.Own {
			body = join(body, k.call(k.socket, arg(0), is(unix.AF_VSOCK, answer(denied)), answer(allow)),
				k.call(k.socketcall, arg(0), is(socketOf, answer(denied)), answer(allow)), answer(allow))
		} else {
			body = join(body, k.call(k.socket, s.socket()), k.call(k.socketpair, s.socketpair()),
				k.call(k.socketcall, answer(denied)), k.call(k.sendto, fastOpen(3)), k.call(k.sendmsg, fastOpen(2)),
				k.call(k.sendmmsg, fastOpen(3)), answer(allow))
		}
		p = append(p, join(load(atArch), is(k.arch, body))...)
	}
	return append(p, answer(unknown)...)
}

// clone3 is that call, on every architecture.
const clone3 = 435

// newUser refuses a namespace of users.
func newUser() program {
	return join(arg(0), when(unix.BPF_JSET, unix.CLONE_NEWUSER, answer(refused)), answer(allow))
}

// socketOf is what socketcall makes a socket by. Its arguments are where no filter sees them.
const socketOf = 1

// above is the first number beyond the kind's calls.
func (k calls) above() uint32 {
	if k.most == 0 {
		return 1<<32 - 1
	}
	return k.most + 1
}

func (calls) call(number uint32, body ...program) program {
	if number == 0 {
		return nil
	}
	return is(number, body...)
}

// mptcp is IPPROTO_MPTCP, which Landlock does not know as TCP.
const mptcp = 262

// typeBits are those of a socket's type that are no flags.
const typeBits = 0xf

func (s Sockets) socket() program {
	var types program
	if s.UDP {
		types = is(unix.SOCK_DGRAM, arg(2), is(0, answer(allow)), is(unix.IPPROTO_UDP, answer(allow)), answer(denied))
	}
	internet := join(arg(1), and(typeBits), types,
		is(unix.SOCK_STREAM, arg(2), is(0, answer(allow)), is(unix.IPPROTO_TCP, answer(allow)),
			is(mptcp, answer(noProto)), answer(denied)),
		answer(denied))
	p := arg(0)
	if s.Unix {
		p = join(p, is(unix.AF_UNIX, answer(allow)))
	}
	return join(p, is(unix.AF_NETLINK, arg(2), is(unix.NETLINK_ROUTE, answer(allow)), answer(denied)),
		is(unix.AF_INET, internet), is(unix.AF_INET6, internet), answer(denied))
}

// socketpair refuses a pair of datagrams: either of it could be sent to any other socket.
func (s Sockets) socketpair() program {
	if s.Unix {
		return answer(allow)
	}
	return join(arg(1), and(typeBits), is(unix.SOCK_STREAM, answer(allow)), is(unix.SOCK_SEQPACKET, answer(allow)),
		answer(denied))
}

// fastOpen refuses to connect by sending.
func fastOpen(flags uint32) program {
	return join(arg(flags), when(unix.BPF_JSET, unix.MSG_FASTOPEN, answer(noOp)), answer(allow))
}

// kinds are those that run on this machine.
var kinds = kindsOf(runtime.GOARCH)

// keepTo gives up all other sockets, for this thread and what it becomes.
func keepTo(s Sockets) error {
	p := filter(s, kinds)
	told := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, no := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&told))); no != 0 {
		return fmt.Errorf("giving up sockets: %w", no)
	}
	return nil
}

// KnowsSockets reports whether Steps.Sockets can be kept to here.
func KnowsSockets() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, no := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return no == 0 && len(kinds) > 0
}

// kindsOf are the kinds of programs that run on an architecture, as Go names it, its own first. An unknown architecture
// has no kinds.
func kindsOf(architecture string) []calls {
	switch architecture {
	case "amd64":
		return []calls{
			{
				arch: unix.AUDIT_ARCH_X86_64, most: 1<<30 - 1, // from there on it is the x32 ABI
				socket: 41, sendto: 44, sendmsg: 46, socketpair: 53, sendmmsg: 307, uring: 425,
				keys: []uint32{248, 249, 250}, clone: 56, unshare: 272,
			},
			{
				arch: unix.AUDIT_ARCH_I386, socketcall: 102, sendmmsg: 345, socket: 359, socketpair: 360, sendto: 369,
				sendmsg: 370, uring: 425, keys: []uint32{286, 287, 288}, clone: 120, unshare: 310,
			},
		}
	case "arm64":
		return []calls{
			{
				arch: unix.AUDIT_ARCH_AARCH64, socket: 198, socketpair: 199, sendto: 206, sendmsg: 211, sendmmsg: 269,
				uring: 425, keys: []uint32{217, 218, 219}, clone: 220, unshare: 97,
			},
			{
				arch: unix.AUDIT_ARCH_ARM, socketcall: 102, socket: 281, socketpair: 288, sendto: 290, sendmsg: 296,
				sendmmsg: 374, uring: 425, keys: []uint32{309, 310, 311}, clone: 120, unshare: 337,
			},
		}
	}
	return nil
}
