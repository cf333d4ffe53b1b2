package upstream

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// TestNoOrphans checks that if this program is killed, its children die, too, even stubborn ones.
func TestNoOrphans(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanln(out, &pid); err != nil || pid == 0 {
		t.Fatal(pid, err)
	}
	if _, alive := process.Read(pid); !alive {
		t.Fatal("the child is not there")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for alive := true; alive; runtime.Gosched() { // limited by the test timeout
		_, alive = process.Read(pid)
	}
}
