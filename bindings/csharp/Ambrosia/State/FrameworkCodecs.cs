using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Holds the codecs of the framework's structs that are nothing but their fields: value tuples and pairs.
/// </summary>
internal static class FrameworkCodecs
{
    /// <summary>The codecs by the open generic type that they are for; they have its type parameters.</summary>
    internal static readonly Dictionary<Type, Type> ByDefinition = new()
    {
        [typeof(ValueTuple<>)] = typeof(TupleCodec<>),
        [typeof(ValueTuple<,>)] = typeof(TupleCodec<,>),
        [typeof(ValueTuple<,,>)] = typeof(TupleCodec<,,>),
        [typeof(ValueTuple<,,,>)] = typeof(TupleCodec<,,,>),
        [typeof(ValueTuple<,,,,>)] = typeof(TupleCodec<,,,,>),
        [typeof(ValueTuple<,,,,,>)] = typeof(TupleCodec<,,,,,>),
        [typeof(ValueTuple<,,,,,,>)] = typeof(TupleCodec<,,,,,,>),
        [typeof(ValueTuple<,,,,,,,>)] = typeof(TupleCodec<,,,,,,,>),
        [typeof(KeyValuePair<,>)] = typeof(PairCodec<,>),
    };

    private delegate ref TField Place<TOwner, TField>(ref TOwner of);

    /// <summary>Writes and reads one field after the other.</summary>
    private abstract class FieldsCodec<T>(params Field<T>[] fields) : StateCodec<T>
    {
        public sealed override string[] Names { get; } = Array.ConvertAll(fields, static field => field.Name);

        public sealed override void Write(GraphWriter graph, ref CborWriter to, T value)
        {
            for (int i = 0; i < fields.Length; i++) fields[i].Write(graph, ref to, this, i, ref value);
        }

        public sealed override void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> places, ref T value)
        {
            foreach (int place in places)
            {
                if ((uint)place < (uint)fields.Length) fields[place].Read(graph, ref from, ref value);
                else from.Skip();
            }
        }
    }

    private abstract class Field<TOwner>(string name)
    {
        internal string Name => name;

        internal abstract void Write(GraphWriter graph, ref CborWriter to, StateCodec codec, int index, ref TOwner of);

        internal abstract void Read(GraphReader graph, ref CborReader from, ref TOwner of);
    }

    private sealed class Field<TOwner, TField>(string name, Place<TOwner, TField> place) : Field<TOwner>(name)
    {
        internal override void Write(GraphWriter graph, ref CborWriter to, StateCodec codec, int index, ref TOwner of) =>
            graph.WriteField(ref to, codec, index, place(ref of));

        internal override void Read(GraphReader graph, ref CborReader from, ref TOwner of) =>
            place(ref of) = graph.ReadValue<TField>(ref from);
    }

    private sealed class TupleCodec<T1>() : FieldsCodec<ValueTuple<T1>>(
        new Field<ValueTuple<T1>, T1>("Item1", static (ref of) => ref of.Item1));

    private sealed class TupleCodec<T1, T2>() : FieldsCodec<(T1, T2)>(
        new Field<(T1, T2), T1>("Item1", static (ref of) => ref of.Item1),
        new Field<(T1, T2), T2>("Item2", static (ref of) => ref of.Item2));

    private sealed class TupleCodec<T1, T2, T3>() : FieldsCodec<(T1, T2, T3)>(
        new Field<(T1, T2, T3), T1>("Item1", static (ref of) => ref of.Item1),
        new Field<(T1, T2, T3), T2>("Item2", static (ref of) => ref of.Item2),
        new Field<(T1, T2, T3), T3>("Item3", static (ref of) => ref of.Item3));

    private sealed class TupleCodec<T1, T2, T3, T4>() : FieldsCodec<(T1, T2, T3, T4)>(
        new Field<(T1, T2, T3, T4), T1>("Item1", static (ref of) => ref of.Item1),
        new Field<(T1, T2, T3, T4), T2>("Item2", static (ref of) => ref of.Item2),
        new Field<(T1, T2, T3, T4), T3>("Item3", static (ref of) => ref of.Item3),
        new Field<(T1, T2, T3, T4), T4>("Item4", static (ref of) => ref of.Item4));

    private sealed class TupleCodec<T1, T2, T3, T4, T5>() : FieldsCodec<(T1, T2, T3, T4, T5)>(
        new Field<(T1, T2, T3, T4, T5), T1>("Item1", static (ref of) => ref of.Item1),
        new Field<(T1, T2, T3, T4, T5), T2>("Item2", static (ref of) => ref of.Item2),
        new Field<(T1, T2, T3, T4, T5), T3>("Item3", static (ref of) => ref of.Item3),
        new Field<(T1, T2, T3, T4, T5), T4>("Item4", static (ref of) => ref of.Item4),
        new Field<(T1, T2, T3, T4, T5), T5>("Item5", static (ref of) => ref of.Item5));

    private sealed class TupleCodec<T1, T2, T3, T4, T5, T6>() : FieldsCodec<(T1, T2, T3, T4, T5, T6)>(
        new Field<(T1, T2, T3, T4, T5, T6), T1>("Item1", static (ref of) => ref of.Item1),
        new Field<(T1, T2, T3, T4, T5, T6), T2>("Item2", static (ref of) => ref of.Item2),
        new Field<(T1, T2, T3, T4, T5, T6), T3>("Item3", static (ref of) => ref of.Item3),
        new Field<(T1, T2, T3, T4, T5, T6), T4>("Item4", static (ref of) => ref of.Item4),
        new Field<(T1, T2, T3, T4, T5, T6), T5>("Item5", static (ref of) => ref of.Item5),
        new Field<(T1, T2, T3, T4, T5, T6), T6>("Item6", static (ref of) => ref of.Item6));

    private sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7>() : FieldsCodec<(T1, T2, T3, T4, T5, T6, T7)>(
        new Field<(T1, T2, T3, T4, T5, T6, T7), T1>("Item1", static (ref of) => ref of.Item1),
        new Field<(T1, T2, T3, T4, T5, T6, T7), T2>("Item2", static (ref of) => ref of.Item2),
        new Field<(T1, T2, T3, T4, T5, T6, T7), T3>("Item3", static (ref of) => ref of.Item3),
        new Field<(T1, T2, T3, T4, T5, T6, T7), T4>("Item4", static (ref of) => ref of.Item4),
        new Field<(T1, T2, T3, T4, T5, T6, T7), T5>("Item5", static (ref of) => ref of.Item5),
        new Field<(T1, T2, T3, T4, T5, T6, T7), T6>("Item6", static (ref of) => ref of.Item6),
        new Field<(T1, T2, T3, T4, T5, T6, T7), T7>("Item7", static (ref of) => ref of.Item7));

    private sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7, TRest>() : FieldsCodec<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>>(
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T1>("Item1", static (ref of) => ref of.Item1),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T2>("Item2", static (ref of) => ref of.Item2),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T3>("Item3", static (ref of) => ref of.Item3),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T4>("Item4", static (ref of) => ref of.Item4),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T5>("Item5", static (ref of) => ref of.Item5),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T6>("Item6", static (ref of) => ref of.Item6),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, T7>("Item7", static (ref of) => ref of.Item7),
        new Field<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>, TRest>("Rest", static (ref of) => ref of.Rest))
        where TRest : struct;

    private sealed class PairCodec<TKey, TValue>() : FieldsCodec<KeyValuePair<TKey, TValue>>(
        new Field<KeyValuePair<TKey, TValue>, TKey>("key", static (ref of) => ref KeyOf(ref of)),
        new Field<KeyValuePair<TKey, TValue>, TValue>("value", static (ref of) => ref ValueOf(ref of)))
    {
        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "key")]
        private static extern ref TKey KeyOf(ref KeyValuePair<TKey, TValue> pair);

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "value")]
        private static extern ref TValue ValueOf(ref KeyValuePair<TKey, TValue> pair);
    }
}
