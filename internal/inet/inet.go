// Package inet recognizes addresses that the proxy must not connect to. A server can provide any
// URL, and the address of a host name can change, so callers must check the address of each
// connection immediately before connecting.
package inet

import "net/netip"

// Plain returns the address without its zone. For an IPv4-mapped address, or an address with the
// NAT64 prefix 64:ff9b::/96, it returns the embedded IPv4 address.
func Plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// IsMetadata reports whether the address might be that of a cloud provider's metadata service,
// which gives out a machine's credentials. It returns true for all link-local unicast addresses and
// for a few known addresses outside that range.
func IsMetadata(ip netip.Addr) bool {
	ip = Plain(ip)
	switch ip.String() {
	case "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254":
		return true
	}
	return ip.IsLinkLocalUnicast()
}

// IsInternal reports whether the address is outside the public internet.
func IsInternal(ip netip.Addr) bool {
	ip = Plain(ip)
	shared := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10) // used by carrier-grade NAT
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip)
}
