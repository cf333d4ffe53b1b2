package shell

import (
	"path"
	"regexp"
	"strings"
)

// relativeDevices matches device paths relative to a directory that may be the root: cd /; bash
// dev/stdin.
var relativeDevices = regexp.MustCompile(`^(\.\./)*(dev/(std(in|out|err)|fd|tty|pts|null|zero|full|u?random|tcp|udp|shm)|proc/(self|thread-self|[0-9]+))(/|$)`)

// isDevice reports whether an argument names a device, such as /dev/null and of=/dev/sda. A
// project's own directory named dev or proc does not count.
func isDevice(arg string) bool {
	if _, value, ok := strings.Cut(arg, "="); ok && isDevice(value) {
		return true
	}
	if !strings.Contains(arg, "dev") && !strings.Contains(arg, "proc") {
		return false
	}
	clean := path.Clean(arg)
	return begins(clean+"/", "/dev/ /proc/") || relativeDevices.MatchString(clean)
}
