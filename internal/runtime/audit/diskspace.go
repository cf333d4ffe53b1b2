package audit

import (
	"errors"
	"os"
	"syscall"
)

// spaceTestSuffix is the suffix of the file that [Log.checkSpace] writes.
const spaceTestSuffix = ".trial"

// outcomeSpace is additional required space, in bytes: the outcome of a call must fit as well.
const outcomeSpace = 4 << 10

// noteShortage records that n bytes could not be written.
func (l *Log) noteShortage(n int) { l.neededSpace = max(l.neededSpace, min(n, maxBuffer)+outcomeSpace) }

// checkSpace returns an error if the disk still lacks space for the largest write that failed, even
// if the next write is smaller: a small record might fit although a decision would not.
func (l *Log) checkSpace(n int) error {
	if !l.regular || l.neededSpace <= n {
		return nil
	}
	if err := testSpace(l.file.Name()+spaceTestSuffix, l.neededSpace); err != nil {
		return err
	}
	l.neededSpace = 0
	return nil
}

// testSpace writes a file of n bytes and removes it. It returns only errors that mean insufficient
// space.
func testSpace(path string, n int) error {
	_ = os.Remove(path) // left by a process that was killed
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(make([]byte, n))
		_, _ = f.Close(), os.Remove(path)
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return err
		}
	}
	return nil
}
