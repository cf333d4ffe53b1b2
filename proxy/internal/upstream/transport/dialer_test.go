package transport

import (
	"testing"
)

// TestForbiddenAddresses covers D015: what counts is the address that a name resolves to when the
// connection is made.
func TestForbiddenAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "10.0.0.1:80": true, "192.168.1.1:443": true, "[fd12::1]:80": true, "93.184.216.34:443": true, "[64:ff9b::5db8:d822]:80": true,
		"169.254.169.254:80": false, "169.254.0.1:80": false, "[fe80::1%eth0]:80": false, "[::ffff:169.254.169.254]:80": false, "[64:ff9b::a9fe:a9fe]:80": false,
		"100.100.100.200:80": false, "[fd00:ec2::254]:80": false, "[fd20:ce::254]:80": false, "192.0.0.192:80": false, "metadata:80": false,
	} {
		if err := checkAddress("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
