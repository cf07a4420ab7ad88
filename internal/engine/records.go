package engine

import lib "modernc.org/libquickjs"

const (
	maxRecordLevels = 4  // nested deeper, objects are read one by one
	maxRecordNames  = 24 // of an object whose shape is kept
	stepsFrom       = 3  // objects of a list that are read before shapes are kept for the rest
)

// record is what the objects at one level of a JSON text have in common: mostly
// they are the rows of a list, with the same names in the same order.
//
// The engine adds a property to an object by moving it to the shape that has one property more, if there is
// such a shape. The shapes on the way to a whole row are nobody's once the row is there, so that each
// row would make them anew; that is most of what a row costs. The steps keep them.
type record struct {
	row   bool // more than one object of a list was at this level
	names []recordName
	steps []value // objects with the first name, the first two, …; owned
}

type recordName struct {
	text string
	atom lib.TJSAtom // the reader's
}

// learn notes the n-th name of the object that was read last.
func (r *record) learn(n int, text string, atom lib.TJSAtom) {
	if n <= len(r.names) && n < maxRecordNames {
		r.names = append(r.names[:n], recordName{text, atom})
	}
}

// climb makes the steps; false when memory ran out.
func (r *record) climb(i *isolate) bool {
	if r.steps != nil {
		return true
	}
	for most := 1; most < len(r.names); most++ {
		o := lib.XJS_NewObject(i.tls, i.ctx)
		if isException(o) {
			return false
		}
		r.steps = append(r.steps, o)
		for _, name := range r.names[:most] {
			if lib.XJS_DefinePropertyValue(i.tls, i.ctx, o, name.atom, undefined(), lib.MJS_PROP_C_W_E) < 0 {
				return false
			}
		}
	}
	return true
}

func (r *record) close(i *isolate) {
	for _, o := range r.steps {
		i.free(o)
	}
}
