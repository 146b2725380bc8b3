package launch

import (
	"errors"
	"os"
)

func pair() (ours, theirs *os.File, err error) {
	return nil, nil, errors.New("jobs of ralph serve run on Linux and macOS alone")
}
