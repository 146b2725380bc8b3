package git

import (
	"io/fs"
)

// stamp tells one state of a file from every other, without its content: whoever changes it changes this. The time of
// change is set by the system alone, where the system tells it.
type stamp struct {
	inode, size, modified, changed int64
	mode                           fs.FileMode
}

func stampFrom(info fs.FileInfo) stamp {
	return stamp{inode: inodeOf(info), size: info.Size(), modified: info.ModTime().UnixNano(), changed: changeTime(info),
		mode: info.Mode()}
}
