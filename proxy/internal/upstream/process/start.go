package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// StartError says why a command cannot be started.
func StartError(command string, err error) error {
	var path *fs.PathError
	var lookup *exec.Error
	reason := err
	switch {
	case errors.As(err, &lookup):
		reason = lookup.Err
	case errors.As(err, &path):
		reason = path.Err
	}
	return fmt.Errorf("starting %q: %w", command, reason)
}

func CloseAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
