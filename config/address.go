package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == ""
}

// isSecureURL reports whether text is an https URL, or an http URL that refers to this machine.
func isSecureURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isURL(text) && (u.Scheme == "https" || loopback(net.JoinHostPort(u.Hostname(), "0")))
}

// discoverable reports whether the issuer's metadata can be found as specified by RFC 8414. The
// issuer must be a secure URL without a query.
func discoverable(issuer string) bool { return isSecureURL(issuer) && !strings.Contains(issuer, "?") }

// loopback reports whether the address can be reached only from this machine. The only host name it
// accepts is "localhost", because other names might resolve to any address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// allNetworks reports whether a server that listens at the address accepts connections on all
// network interfaces.
func allNetworks(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().WithZone("").IsUnspecified()
}

var checkAddress = accept(func(text string) bool {
	_, port, err := net.SplitHostPort(text)
	_, bad := strconv.ParseUint(port, 10, 16)
	return err == nil && bad == nil
}, "%[1]s: %[2]s is not an address", `write "127.0.0.1:7777"`)

// checkConsole accepts "off" and addresses that can be reached only from this machine. Other
// addresses are rejected because anyone who can open the console can answer approval requests.
func checkConsole(key, quoted, text string) (msg, hint string) {
	switch msg, _ = checkAddress(key, quoted, text); {
	case text == "off":
		return "", ""
	case msg != "":
		return msg, `write "127.0.0.1:7780", or off`
	case !loopback(text):
		return fmt.Sprintf("%s: %s can be reached from other machines", key, quoted), `write "127.0.0.1:7780" behind a reverse proxy that authenticates users; list its host in console.allowedHosts`
	}
	return "", ""
}

// checkURL accepts an http or https URL. It does not report the error from url.Parse, which quotes
// the URL and might thus reveal a secret.
var checkURL = accept(func(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}, "%[1]s must be an http or https address", "")
