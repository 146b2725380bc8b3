package inside

import "golang.org/x/sys/unix"

// kindsOf are the kinds of programs that run on an architecture, as Go names it, its own first. There are none where
// no one has looked.
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
