package audit

import (
	"errors"
	"os"
	"syscall"
)

// trialSuffix is what the name of the file that [Log.tries] writes has more than that of the log.
const trialSuffix = ".trial"

// spare is how many bytes there must be room for besides what could not be written: the outcome of
// a call has to fit as well.
const spare = 4 << 10

// lacked notes that n bytes could not be written.
func (l *Log) lacked(n int) { l.wanted = max(l.wanted, min(n, maxBuffer)+spare) }

// tries reports whether there is room for the largest write that failed before, if the next one is
// smaller: the disk may have room for a small record, but not for a decision.
func (l *Log) tries(n int) error {
	if !l.regular || l.wanted <= n {
		return nil
	}
	if err := tryRoom(l.file.Name()+trialSuffix, l.wanted); err != nil {
		return err
	}
	l.wanted = 0
	return nil
}

// tryRoom writes a file of n bytes and removes it. Only that there is no room is an error.
func tryRoom(path string, n int) error {
	_ = os.Remove(path) // of a process that was killed
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
