package approval

import "bytes"

// present returns c as displayed: with values masked, and with warnings about misleading content.
// Meta is left unchanged, because it is forwarded.
func (m Mask) present(c Call) Call {
	if c.presented {
		return c
	}
	c.presented, c.exact = true, c.Arguments
	c.given = len(c.Arguments) + len(c.Beside) + len(c.Meta)
	before := [][]byte{c.Arguments, c.Beside, c.Meta}
	meta, masked := m.hide(c.Meta)
	if masked > 0 {
		c.SeenMeta = meta
	}
	c.Masked = masked
	for _, part := range []*[]byte{&c.Arguments, &c.Beside} {
		*part, masked = m.hide(*part)
		c.Masked += masked
	}
	if c.Masked > 0 {
		c.detach(before)
	}
	c.Warnings = warnings(before, [][]byte{c.Arguments, c.Beside, c.ShownMeta()})
	switch {
	case len(c.exact) > maxCompared:
		c.exact = nil
	case c.Masked > 0: // copy the arguments, so that the client's message, which can be long, can be released
		c.exact = bytes.Clone(c.exact)
	}
	return c
}

func (m Mask) hide(value []byte) (shown []byte, masked int) {
	if m == nil || value == nil {
		return value, 0
	}
	return m(value)
}

// A Mask returns a JSON value with secret parts replaced, and the number of replacements. It must
// be safe for concurrent use.
type Mask func(value []byte) (shown []byte, masked int)
