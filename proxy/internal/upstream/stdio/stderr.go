package stdio

import (
	"bufio"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// stderrLine is the longest part of a line on standard error that is logged.
const stderrLine = 4 << 10

// readErrors logs what the child says on its standard error, until it ends.
func (c *Conn) readErrors() {
	defer c.readers.Done()
	defer c.stderr.Close()
	log := conn.NewTrickle(c.Host.Log, "standard error")
	defer log.Flush()
	r := bufio.NewReaderSize(&process.Tail{File: c.stderr}, stderrLine)
	for within := false; ; {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if !within && len(line) > 0 {
			c.Host.Hear("", line)
			if log.Allow() {
				c.Host.Log.Info("upstream says", "stderr", text.Excerpt(string(line), stderrLine))
			}
		}
		within = more // the rest of a line that is too long is left out
	}
}
