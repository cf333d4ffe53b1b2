package basefile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	fetchTime = 15 * time.Second
	maxFetch  = 1 << 20 // bytes
)

// Fetch reads what is at an address. It follows no redirect: what is there is meant.
func Fetch(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with status %d; the file itself must be there, and no redirect", address, response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxFetch+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFetch {
		return nil, fmt.Errorf("%s has more than %d bytes, which is no base policy", address, maxFetch)
	}
	return data, nil
}
