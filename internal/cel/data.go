package cel

import (
	"errors"
	"fmt"
	"math"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Limits on a value that a net remembers. They are low because the value may be copied each time a
// transition fires.
const (
	maxDataBytes  = 256 << 10
	maxDataValues = 10_000
	maxDataDepth  = 32
)

var errTooLarge = fmt.Errorf("the value is too large: the limits are %d values, %d bytes and %d levels", maxDataValues, maxDataBytes, maxDataDepth)

// An exporter converts CEL results to Go values. It fails if they exceed the limits.
type exporter struct{ values, bytes int }

func (d *exporter) value(v ref.Val, depth int) (any, error) {
	if d.values++; d.values > maxDataValues || depth > maxDataDepth {
		return nil, errTooLarge
	}
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return uint64(v), nil
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, errors.New("the value is not a finite number")
		}
		return float64(v), nil
	case types.String:
		return d.text(v)
	case traits.Mapper:
		return d.object(v, depth)
	case traits.Lister:
		return d.list(v, depth)
	case *types.Optional:
		return nil, errors.New("the value may be absent: end with .orValue(...)")
	}
	return nil, fmt.Errorf("a net cannot remember a value of type %s", v.Type().TypeName())
}

func (d *exporter) text(s types.String) (string, error) {
	if d.bytes += len(s); d.bytes > maxDataBytes {
		return "", errTooLarge
	}
	return string(s), nil
}

func (d *exporter) list(l traits.Lister, depth int) (any, error) {
	list := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		item, err := d.value(it.Next(), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

func (d *exporter) object(m traits.Mapper, depth int) (any, error) {
	object := make(map[string]any)
	for it := m.Iterator(); it.HasNext() == types.True; {
		key, ok := it.Next().(types.String)
		if !ok {
			return nil, errors.New("the keys of a map must be strings")
		}
		name, err := d.text(key)
		if err != nil {
			return nil, err
		}
		if object[name], err = d.value(m.Get(key), depth+1); err != nil {
			return nil, err
		}
	}
	return object, nil
}
