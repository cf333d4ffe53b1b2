package streamable

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

func (c *Conn) Send(x *conn.Exchange) {
	if c.Pending.Add(x) == 0 || !c.Host.Work.Begin() {
		c.Pending.Take(x.ID)
		x.Abort()
		x.Deliver(conn.Reply{Err: conn.NotSent(process.ErrClosed)})
		return
	}
	x.Body.Fill(wire.AppendRequestInt(make([]byte, 0, len(x.Req.Params)+len(x.Req.Method)+64), x.ID, x.Req.Method, x.Req.Params))
	if x.Req.Mirrored != nil {
		x.Req.Headers = mcp.GenerateParamHeaders(x.Req.Mirrored, x.Req.Params)
	}
	x.Req.Params = nil
	if x.Req.Here {
		c.perform(x)
	} else {
		go c.perform(x)
	}
}

// perform makes the HTTP request for x and delivers the reply.
func (c *Conn) perform(x *conn.Exchange) {
	reply := c.roundTrip(x)
	if reply.Rest != nil {
		go func() { c.conclude(x, reply.Rest()) }()
		return
	}
	c.conclude(x, reply)
}

func (c *Conn) conclude(x *conn.Exchange, reply conn.Reply) {
	defer c.Host.Work.Done()
	defer x.Abort()
	c.Pending.Take(x.ID)
	x.Deliver(reply)
}

// Cancel cancels x at the server by sending notifications/cancelled or, in revision 2026-07-28, by
// closing the stream.
func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	if s := c.Current.Load(); s == nil || s.Rev() == rev.Rev2026 {
		x.Abort()
		return
	}
	if !c.Host.Work.Go(func() {
		// Do not use the context of x, because it ends when the server replies to x. Cancelling x
		// also withdraws the requests that the server made during x. The answers to those may cause
		// the server to reply before the notification is sent.
		_ = c.Notify(c.ctx, nil, conn.MethodCancelled, conn.AppendCancelled(nil, x.ID, reason))
	}) {
		return
	}
	x.Body.Forget()
	stop := time.AfterFunc(cancelledGrace, x.Abort)
	context.AfterFunc(x.Ctx, func() { stop.Stop() })
}

// Retire ends the session, if there is one. Requests in flight are not affected, unless the
// upstream itself ends.
func (c *Conn) Retire() {
	lost := c.Cause() != nil
	c.Fail(process.ErrClosed)
	c.Asked.Close()
	if s := c.Current.Load(); s != nil && s.ID != "" && !lost {
		c.endSession(s)
	}
}

// endSession tells the server that its session has ended. The server may ignore that.
func (c *Conn) endSession(s *conn.Session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), time.Second)
	defer cancel()
	if request, err := c.NewRequest(ctx, http.MethodDelete, s, nil); err == nil {
		if response, err := c.Do(request, nil); err == nil {
			response.Body.Close()
		}
	}
}
