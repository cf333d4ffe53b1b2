// Package inet knows which addresses a proxy must not be led to. A server can
// name others, and a name can stand for another address than it did: what is
// judged here is the address that a connection is about to be made to.
package inet

import "net/netip"

// Plain is the address that an address of IPv6 stands for, without its zone.
func Plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// TellsCredentials reports whether clouds tell a machine its credentials at an
// address: at those of the link, and at a few more.
func TellsCredentials(ip netip.Addr) bool {
	ip = Plain(ip)
	switch ip.String() {
	case "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254":
		return true
	}
	return ip.IsLinkLocalUnicast()
}

// Inside reports whether an address is not one of the open network.
func Inside(ip netip.Addr) bool {
	ip = Plain(ip)
	shared := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10) // of carriers
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip)
}
