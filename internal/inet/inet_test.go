package inet_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/petrigate/petrigate/internal/inet"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		ip                  string
		credentials, inside bool
	}{
		{"169.254.169.254", true, true},
		{"::ffff:169.254.169.254", true, true},
		{"64:ff9b::a9fe:a9fe", true, true},
		{"fe80::1%eth0", true, true},
		{"100.100.100.200", true, true},
		{"192.0.0.192", true, false},
		{"fd00:ec2::254", true, true},
		{"fd20:ce::254", true, true},
		{"127.0.0.1", false, true},
		{"::1", false, true},
		{"0.0.0.0", false, true},
		{"10.1.2.3", false, true},
		{"100.64.0.1", false, true},
		{"fd00::1", false, true},
		{"64:ff9b::7f00:1", false, true},
		{"224.0.0.1", false, true},
		{"255.255.255.255", false, true},
		{"::", false, true},
		{"172.16.0.1", false, true},
		{"192.168.1.1", false, true},
		{"172.32.0.1", false, false},
		{"100.128.0.1", false, false},
		{"192.0.2.1", false, false},
		{"2001:db8::1", false, false},
		{"64:ff9b::c000:201", false, false},
	} {
		ip := netip.MustParseAddr(c.ip)
		if got := inet.IsMetadata(ip); got != c.credentials {
			t.Errorf("%s: tells credentials %v", c.ip, got)
		}
		if got := inet.IsInternal(ip); got != c.inside {
			t.Errorf("%s: inside %v", c.ip, got)
		}
	}
}

func ExamplePlain() {
	fmt.Println(inet.Plain(netip.MustParseAddr("64:ff9b::a9fe:a9fe")))
	// Output: 169.254.169.254
}
