package git

import (
	"io/fs"
	"os"
)

// stamp tells one state of a file from every other, without its content: whoever changes it changes this. The time of
// change is set by the system alone, where the system tells it.
type stamp struct {
	inode, size, modified, changed int64
	mode                           fs.FileMode
}

// stampOf looks at a file itself, not at what it leads to.
func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampFrom(info), nil
}

func stampFrom(info fs.FileInfo) stamp {
	return stamp{inode: inodeOf(info), size: info.Size(), modified: info.ModTime().UnixNano(), changed: changeTime(info),
		mode: info.Mode()}
}
