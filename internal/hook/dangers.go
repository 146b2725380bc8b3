package hook

import "slices"

// Dangers are the kinds of things that the guard refuses, in the order in which they are looked for.
var Dangers = []Danger{
	{
		Name: "recursive-delete", finds: recursiveDelete,
		Why:     "Deleting directories outside the project, or the project itself, cannot be taken back.",
		Instead: "Delete by name, inside the project, what you made yourself.",
	},
	{
		Name: "device-write", finds: deviceTool, touches: deviceFile,
		Why:     "Writing to a disk or another device destroys what is on it.",
		Instead: "Write to a file in the project.",
	},
	{
		Name: "history-rewrite", finds: historyRewrite,
		Why:     "Rewriting or pushing history can destroy the work of others, and of this run.",
		Instead: "Make new commits on top; in a run, ralph pushes them.",
	},
	{
		Name: "discard-work", finds: discardWork,
		Why:     "This throws work away that is in no commit.",
		Instead: "Commit what is there, then undo single changes by editing the files.",
	},
	{
		Name: "git-tampering", finds: gitTampering, touches: gitFiles,
		Why:     "Hooks and settings of git run programs and keep mistakes out of commits.",
		Instead: "Leave them as they are, and mend what a hook complains about.",
	},
	{
		Name: "privilege", finds: privilege,
		Why:     "Nothing in this project needs the rights of another user.",
		Instead: "Do it as the user you are, or say in your answer what a person has to do.",
	},
	{
		Name: "permissions", finds: permissions,
		Why:     "Files that everybody may write, and changed rights outside the project, let others in.",
		Instead: "Give the owner what is needed: chmod u+w FILE, chmod +x FILE.",
	},
	{
		Name: "download-and-run", finds: runsForeign,
		Why:     "Code that was downloaded or decoded a moment ago has been read by nobody.",
		Instead: "Download it to a file, read it, and use the project's own package manager where there is one.",
	},
	{
		Name: "credentials", finds: credentials,
		Why:     "Keys, tokens and passwords are not needed for this work, and must not get into a conversation.",
		Instead: "Work without them; use made-up values in tests.",
	},
	{
		Name: "send-out", finds: sendOut,
		Why:     "Files of this machine must not be sent to others.",
		Instead: "Keep results in the project; ralph publishes what was committed.",
	},
	{
		Name: "remote-shell", finds: remoteShell,
		Why:     "This lets others in: a shell over the network, or a port that listens.",
		Instead: "Test servers through their own test tools, on the loopback interface.",
	},
	{
		Name: "kill-others", finds: killOthers,
		Why:     "This ends processes that are not yours, ralph and the agent among them.",
		Instead: "End what you started, by its process id.",
	},
	{
		Name:    "fork-bomb",
		Why:     "Processes that start each other without an end stop the machine.",
		Instead: "Start a fixed number, and wait for them.",
	},
	{
		Name: "system", finds: systemControl, touches: systemFile,
		Why:     "Services, start-up, timers and the files of the system are not the project's.",
		Instead: "Start what you need as a child process, from the project.",
	},
	{
		Name: "system-packages", finds: systemPackages,
		Why:     "Installing for the whole machine changes what everybody else builds with.",
		Instead: "Add it to the project's own dependencies, or to a virtual environment in the project.",
	},
	{
		Name: "persistence", finds: persistence, touches: startupFile,
		Why:     "Files that are run at every login outlast this work, and run as the user.",
		Instead: "Set what you need in the command itself: NAME=value COMMAND.",
	},
	{
		Name: "harness", finds: harnessCommand, touches: harnessFile,
		Why:     "These files and commands control this run; they are not part of the work.",
		Instead: "Do your story: edit the project, ralph/tasks.json and ralph/progress.txt, and commit.",
	},
	{
		Name: "data-destruction", finds: dataDestruction,
		Why:     "Deleting databases and what is in a cloud cannot be taken back.",
		Instead: "Use a local database that a test made, and only look at anything else.",
	},
}

// knownPrograms are the names that some kind of danger looks for.
func knownPrograms() []string {
	names := []string{"rm", "dd", "mkfs", "shred", "git", "sudo", "su", "chmod", "chown", "curl", "wget", "cat", "nc", "ncat", "socat", "kill", "pkill", "killall",
		"systemctl", "shutdown", "reboot", "crontab", "apt", "apt-get", "npm", "pip", "tee", "cp", "mv", "psql", "mysql", "kubectl", "terraform", "docker", "ralph", "find", "printenv", "scp", "rsync"}
	for name := range wrappers {
		names = append(names, name)
	}
	for name := range shells {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
