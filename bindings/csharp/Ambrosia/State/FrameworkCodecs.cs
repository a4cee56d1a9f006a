// Codecs of the framework's structs that are nothing but their fields: value tuples and pairs.
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

internal static class FrameworkCodecs
{
    internal static readonly Dictionary<Type, Type> ByDefinition = new()
    {
        [typeof(ValueTuple<>)] = typeof(TupleCodec<>),
        [typeof(ValueTuple<,>)] = typeof(TupleCodec<,>),
        [typeof(ValueTuple<,,>)] = typeof(TupleCodec<,,>),
        [typeof(ValueTuple<,,,>)] = typeof(TupleCodec<,,,>),
        [typeof(ValueTuple<,,,,>)] = typeof(TupleCodec<,,,,>),
        [typeof(ValueTuple<,,,,,>)] = typeof(TupleCodec<,,,,,>),
        [typeof(ValueTuple<,,,,,,>)] = typeof(TupleCodec<,,,,,,>),
        [typeof(ValueTuple<,,,,,,,>)] = typeof(LongTupleCodec<,,,,,,,>),
        [typeof(KeyValuePair<,>)] = typeof(PairCodec<,>),
    };

    private sealed class TupleCodec<T1> : StateCodec<ValueTuple<T1>>
    {
        public override string[] Names { get; } = ["Item1"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class TupleCodec<T1, T2> : StateCodec<ValueTuple<T1, T2>>
    {
        public override string[] Names { get; } = ["Item1", "Item2"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class TupleCodec<T1, T2, T3> : StateCodec<ValueTuple<T1, T2, T3>>
    {
        public override string[] Names { get; } = ["Item1", "Item2", "Item3"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2, T3> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
            graph.WriteField(ref to, this, 2, value.Item3);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2, T3> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    case 2: value.Item3 = graph.ReadValue<T3>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class TupleCodec<T1, T2, T3, T4> : StateCodec<ValueTuple<T1, T2, T3, T4>>
    {
        public override string[] Names { get; } = ["Item1", "Item2", "Item3", "Item4"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2, T3, T4> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
            graph.WriteField(ref to, this, 2, value.Item3);
            graph.WriteField(ref to, this, 3, value.Item4);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2, T3, T4> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    case 2: value.Item3 = graph.ReadValue<T3>(ref from); break;
                    case 3: value.Item4 = graph.ReadValue<T4>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class TupleCodec<T1, T2, T3, T4, T5> : StateCodec<ValueTuple<T1, T2, T3, T4, T5>>
    {
        public override string[] Names { get; } = ["Item1", "Item2", "Item3", "Item4", "Item5"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2, T3, T4, T5> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
            graph.WriteField(ref to, this, 2, value.Item3);
            graph.WriteField(ref to, this, 3, value.Item4);
            graph.WriteField(ref to, this, 4, value.Item5);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2, T3, T4, T5> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    case 2: value.Item3 = graph.ReadValue<T3>(ref from); break;
                    case 3: value.Item4 = graph.ReadValue<T4>(ref from); break;
                    case 4: value.Item5 = graph.ReadValue<T5>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class TupleCodec<T1, T2, T3, T4, T5, T6> : StateCodec<ValueTuple<T1, T2, T3, T4, T5, T6>>
    {
        public override string[] Names { get; } = ["Item1", "Item2", "Item3", "Item4", "Item5", "Item6"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2, T3, T4, T5, T6> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
            graph.WriteField(ref to, this, 2, value.Item3);
            graph.WriteField(ref to, this, 3, value.Item4);
            graph.WriteField(ref to, this, 4, value.Item5);
            graph.WriteField(ref to, this, 5, value.Item6);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2, T3, T4, T5, T6> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    case 2: value.Item3 = graph.ReadValue<T3>(ref from); break;
                    case 3: value.Item4 = graph.ReadValue<T4>(ref from); break;
                    case 4: value.Item5 = graph.ReadValue<T5>(ref from); break;
                    case 5: value.Item6 = graph.ReadValue<T6>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7> : StateCodec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>
    {
        public override string[] Names { get; } = ["Item1", "Item2", "Item3", "Item4", "Item5", "Item6", "Item7"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2, T3, T4, T5, T6, T7> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
            graph.WriteField(ref to, this, 2, value.Item3);
            graph.WriteField(ref to, this, 3, value.Item4);
            graph.WriteField(ref to, this, 4, value.Item5);
            graph.WriteField(ref to, this, 5, value.Item6);
            graph.WriteField(ref to, this, 6, value.Item7);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2, T3, T4, T5, T6, T7> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    case 2: value.Item3 = graph.ReadValue<T3>(ref from); break;
                    case 3: value.Item4 = graph.ReadValue<T4>(ref from); break;
                    case 4: value.Item5 = graph.ReadValue<T5>(ref from); break;
                    case 5: value.Item6 = graph.ReadValue<T6>(ref from); break;
                    case 6: value.Item7 = graph.ReadValue<T7>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class LongTupleCodec<T1, T2, T3, T4, T5, T6, T7, TRest> : StateCodec<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>>
        where TRest : struct
    {
        public override string[] Names { get; } = ["Item1", "Item2", "Item3", "Item4", "Item5", "Item6", "Item7", "Rest"];

        public override void Write(GraphWriter graph, ref CborWriter to, ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value)
        {
            graph.WriteField(ref to, this, 0, value.Item1);
            graph.WriteField(ref to, this, 1, value.Item2);
            graph.WriteField(ref to, this, 2, value.Item3);
            graph.WriteField(ref to, this, 3, value.Item4);
            graph.WriteField(ref to, this, 4, value.Item5);
            graph.WriteField(ref to, this, 5, value.Item6);
            graph.WriteField(ref to, this, 6, value.Item7);
            graph.WriteField(ref to, this, 7, value.Rest);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: value.Item1 = graph.ReadValue<T1>(ref from); break;
                    case 1: value.Item2 = graph.ReadValue<T2>(ref from); break;
                    case 2: value.Item3 = graph.ReadValue<T3>(ref from); break;
                    case 3: value.Item4 = graph.ReadValue<T4>(ref from); break;
                    case 4: value.Item5 = graph.ReadValue<T5>(ref from); break;
                    case 5: value.Item6 = graph.ReadValue<T6>(ref from); break;
                    case 6: value.Item7 = graph.ReadValue<T7>(ref from); break;
                    case 7: value.Rest = graph.ReadValue<TRest>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }
    }

    private sealed class PairCodec<TKey, TValue> : StateCodec<KeyValuePair<TKey, TValue>>
    {
        public override string[] Names { get; } = ["key", "value"];

        public override void Write(GraphWriter graph, ref CborWriter to, KeyValuePair<TKey, TValue> value)
        {
            graph.WriteField(ref to, this, 0, value.Key);
            graph.WriteField(ref to, this, 1, value.Value);
        }

        public override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref KeyValuePair<TKey, TValue> value)
        {
            foreach (int field in fields)
            {
                switch (field)
                {
                    case 0: KeyOf(ref value) = graph.ReadValue<TKey>(ref from); break;
                    case 1: ValueOf(ref value) = graph.ReadValue<TValue>(ref from); break;
                    default: from.Skip(); break;
                }
            }
        }

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "key")]
        private static extern ref TKey KeyOf(ref KeyValuePair<TKey, TValue> pair);

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "value")]
        private static extern ref TValue ValueOf(ref KeyValuePair<TKey, TValue> pair);
    }
}
