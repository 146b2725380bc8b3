//go:build linux

package main

const whatItsUserCan = "what its user can."

const gitIsTheirs = "the repository in the checkout is the agent's own. ralph rewrites it after each turn, and its " +
	"own git uses another."

// reasons say, for each sandbox and each row of the table, why somebody reaches it all the same.
var reasons = map[string]map[string]string{
	"off": {
		memoryKey: "root reads the memory of every process. ralph keeps its own from processes of the same " +
			"user, not from root.",
		kernelKey: "shared memory and keyrings of the same user, and shared memory that everyone can read.",
		homeKeys:  "the files of its user, and those that everyone can read.",
		runnerFile: "what its user can read. In the container action the files of the runner can be read by " +
			"everyone.",
		runnerSet: "what its user can write; in the container action the agent is another user, and can not.",
		outside:   whatItsUserCan,
		othersHome: "there are no homes of the run's own. ralph compares the tree of the checks with the " +
			"commit before it believes them.",
		leftover:   "one home and one directory for temporary files are shared. Processes are ended with the turn.",
		gitDecides: gitIsTheirs,
		ralphs: "the agent has the rights of the user. A journal that another user wrote is rejected. Where the " +
			"agent is another user, it can only make files beside ralph's in the directory for temporary files.",
		readTree:   "ralph notices it, and the verdict is void.",
		signals:    whatItsUserCan,
		tracing:    "processes of the same user can be traced; ralph, only by root.",
		seeing:     "/proc shows every process.",
		system:     "what root can.",
		privilege:  "setuid programs and namespaces are open to every user; the rest is what root can.",
		tcp:        "the network is open.",
		proxied:    "there is no proxy.",
		datagrams:  "the network is open.",
		unixSocket: "those that its user may write, and those without a file.",
	},
	"landlock": {
		kernelKey:  "Landlock has no namespaces: shared memory that everyone can read.",
		outside:    "Landlock restricts no mode, time or attribute. It needs a file of the same user.",
		leftover:   "/dev/shm is one for all, for who may write there.",
		gitDecides: "Landlock takes nothing out of a directory that may be written. T" + gitIsTheirs[1:],
		ralphs: "they lie in the worktree. A journal that another user wrote is rejected, and the " +
			"settings are those of before the run.",
		signals: "Landlock restricts signals alone. It needs a process of the same user.",
		seeing:  "/proc shows every process; its environment, memory and files are not to be had.",
		tcp:     "Landlock restricts connecting by TCP, by port: servers of tests need theirs.",
	},
	"bwrap": {
		gitDecides: gitIsTheirs,
	},
}
