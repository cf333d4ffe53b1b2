package takeover

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// AskAt returns a function that asks a question at a terminal. Only "y" and "yes" mean yes. When
// ctx is done, the function returns the error of ctx without waiting for the answer.
func AskAt(ctx context.Context, in io.Reader, out io.Writer) func(question string) (bool, error) {
	return func(question string) (bool, error) {
		_, _ = fmt.Fprintf(out, "%s [y/N] ", question)
		var answer string
		read := make(chan error, 1)
		go func() {
			var err error
			answer, err = bufio.NewReader(in).ReadString('\n')
			read <- err
		}()
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(out)
			return false, ctx.Err()
		case err := <-read:
			if err != nil {
				return false, errors.New("nothing was written: no answer was given")
			}
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", nil
	}
}

// Program returns the path of this program for clients to use.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the path of this program: %w", err)
	}
	return path, checkNotTemporary(path)
}

// checkNotTemporary returns an error if path is a temporary program built by "go run".
func checkNotTemporary(path string) error {
	if strings.Contains(path, "go-build") {
		return errors.New("go run built this program and will delete it; install it first: go install ./cmd/petrigate")
	}
	return nil
}
