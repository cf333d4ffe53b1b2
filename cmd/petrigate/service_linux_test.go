package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// hasUserManager reports whether the tests should and can start a systemd user manager. That
// requires root, a separate mount namespace and separate control groups, which a test should not
// create on every machine.
func hasUserManager() bool {
	_, err := exec.LookPath("systemctl")
	if os.Getenv("PETRIGATE_TEST_SYSTEMD") == "" || err != nil || os.Getuid() != 0 || systemdProgram() == "" {
		return false
	}
	made, err := makeGroups()
	removeGroups(made)
	return err == nil
}

func systemdProgram() string {
	for _, path := range []string{"/usr/lib/systemd/systemd", "/lib/systemd/systemd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// makeGroups creates a control group with the same name in each hierarchy that systemd uses to
// track processes. If two managers were in the same group, they would end each other's services.
func makeGroups() (made []string, err error) {
	roots := []string{"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"} // version 1, possibly together with version 2
	if _, err := os.Stat(roots[0]); err != nil {
		roots = []string{"/sys/fs/cgroup"} // version 2 alone
	}
	first, err := os.MkdirTemp(roots[0], "petrigate-test-")
	if err != nil {
		return nil, err
	}
	made = append(made, first)
	for _, root := range roots[1:] {
		if _, err := os.Stat(root); err == nil {
			made = append(made, filepath.Join(root, filepath.Base(first)))
			if err := os.Mkdir(made[len(made)-1], 0o755); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// removeGroups removes empty control groups, as well as those with the same names that systemd has
// created for its controllers.
func removeGroups(groups []string) {
	for _, group := range groups {
		beside, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", "*", filepath.Base(group))) // cannot fail: the pattern is valid
		for _, dir := range append(beside, group) {
			removeBelow(dir)
		}
	}
}

func removeBelow(group string) {
	below, _ := filepath.Glob(filepath.Join(group, "*", "cgroup.procs")) // cannot fail: the pattern is valid
	for _, b := range below {
		removeBelow(filepath.Dir(b))
	}
	_ = os.Remove(group)
}

// startUserManager starts a systemd user manager with its files in home and its sockets in run, and
// waits until it is ready. stop ends the manager and everything that it has started.
func startUserManager(home, run string, env ...string) (stop func(), err error) {
	groups, err := makeGroups()
	if err != nil {
		removeGroups(groups)
		return nil, err
	}
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(run, "told"), Net: "unixgram"})
	if err != nil {
		removeGroups(groups)
		return nil, err
	}
	defer func() { _ = told.Close() }()
	const script = `for group; do echo $$ >"$group/cgroup.procs" || exit; done; mount -t tmpfs none /run && mkdir -p /run/systemd/system && exec "$0" --user`
	c := exec.Command("/bin/sh", append([]string{"-c", script, systemdProgram()}, groups...)...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + run, "NOTIFY_SOCKET=" + told.LocalAddr().String()}, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Unshareflags: syscall.CLONE_NEWNS}
	if err := c.Start(); err != nil {
		removeGroups(groups)
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
		_ = told.Close() // no more notifications
	}()
	stop = func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(agentLimit, func() { _ = c.Process.Kill() })
		<-ended
		late.Stop()
		removeGroups(groups)
	}
	_ = told.SetReadDeadline(time.Now().Add(agentLimit))
	for b := make([]byte, 4096); ; {
		n, err := told.Read(b)
		if err != nil {
			stop()
			return nil, fmt.Errorf("systemd does not become ready: %w", err)
		}
		if strings.Contains(string(b[:n]), "READY=1") {
			return stop, nil
		}
	}
}

// TestServiceIsMadeAfterYes checks that connect --hooks at a terminal offers the service, creates
// it after a yes, and then writes the hooks.
func TestServiceIsMadeAfterYes(t *testing.T) {
	if !hasUserManager() {
		t.Skip("no systemd is started here: PETRIGATE_TEST_SYSTEMD=1 asks for one, as root")
	}
	home, err := os.MkdirTemp("", "home") // socket paths must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	config := filepath.Join(home, ".config")
	stop, err := startUserManager(home, home, "XDG_CONFIG_HOME="+config)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	yaml := filepath.Join(home, "petrigate.yaml")
	if err := os.WriteFile(yaml, []byte("version: 1\nlisten: { http: \"127.0.0.1:0\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + config, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_RUNTIME_DIR=" + home, "DBUS_SESSION_BUS_ADDRESS=", "PETRIGATE_RUNTIME_DIR="}
	for _, c := range []struct {
		answers       []string
		verb, service string
		says          string
		made          bool
	}{
		{[]string{"y", "n"}, "connect", "Run the proxy as your own service (systemd), which starts now and when you log in?", "A proxy must be running", false},
		{[]string{"y"}, "connect", "Run the proxy as your own service (systemd), which starts now and when you log in?", "The proxy responds.", true},
		{[]string{"y", "n"}, "disconnect", "No agent uses the service petrigate any more. Stop and remove it?", "The service petrigate was kept: ", true},
		{[]string{"y"}, "disconnect", "No agent uses the service petrigate any more. Stop and remove it?", "The service petrigate was stopped and removed.", false},
	} {
		p := startPTY(t, env, 200, c.verb, "claude-code", "--hooks", "--config", yaml)
		for i, answer := range c.answers {
			if i == len(c.answers)-1 {
				p.expect(c.service + " [y/N] ")
			} else {
				p.expect("? [y/N] ")
			}
			p.keys(answer + "\n")
		}
		code, out := p.end()
		_, err := os.Stat(filepath.Join(config, "systemd", "user", "petrigate.service"))
		if code != exitOK || !strings.Contains(out, c.says) || (err == nil) != c.made {
			t.Errorf("%s, %q: exit code %d, %v: %s", c.verb, c.answers, code, err, out)
		}
	}
}

// userManager implements the command that starts a systemd user manager for the script's user.
func userManager(ts *testscript.TestScript, _ bool, _ []string) {
	run, err := os.MkdirTemp("", "run") // socket paths must be short
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(run) })
	stop, err := startUserManager(ts.Getenv("HOME"), run, "XDG_CONFIG_HOME="+ts.Getenv("XDG_CONFIG_HOME"))
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("XDG_RUNTIME_DIR", run)
	ts.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
}
