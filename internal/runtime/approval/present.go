package approval

import "bytes"

// A Mask returns a JSON value with what people are not to see replaced, and how many values
// those are. It must be safe for concurrent use.
type Mask func(value []byte) (shown []byte, masked int)

// present returns c as people are to see it: masked, and with warnings of what may mislead
// them. Its Meta stays as it is forwarded.
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
		c.part(before)
	}
	c.Warnings = warnings(before, [][]byte{c.Arguments, c.Beside, c.ShownMeta()})
	switch {
	case len(c.exact) > maxCompared:
		c.exact = nil
	case c.Masked > 0: // the message that it is a part of may be long
		c.exact = bytes.Clone(c.exact)
	}
	return c
}

// part has c keep nothing of its message, whose parts were these: the message is needed only as
// long as a call waits, and what people see of it for longer.
func (c *Call) part(message [][]byte) {
	for i, part := range []*[]byte{&c.Arguments, &c.Beside, &c.Meta} {
		if len(*part) > 0 && len(message[i]) > 0 && &(*part)[0] == &message[i][0] {
			*part = bytes.Clone(*part)
		}
	}
	c.copied = len(c.Arguments) + len(c.Beside) + len(c.Meta) + len(c.SeenMeta)
}

func (m Mask) hide(value []byte) (shown []byte, masked int) {
	if m == nil || value == nil {
		return value, 0
	}
	return m(value)
}
