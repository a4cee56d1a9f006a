using System.Reflection;
using Ambrosia.MethodBodies;
using Ambrosia.Protocol;
using Ambrosia.Suspension;

namespace Ambrosia.State;

/// <summary>
/// Writes a delegate that is alive over an await: [function, types of the class's arguments, types of the method's arguments, target]. The
/// function is a lambda or local function by its role within its method, or a method of a class of the app as [class, name, parameter
/// types].
/// </summary>
internal sealed class DelegateShape(Type type) : ObjectShape
{
    private const BindingFlags All = BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic
        | BindingFlags.DeclaredOnly;

    private readonly Slot<object?> _targets = (Slot<object?>)Slots.Of(typeof(object));

    internal override bool IsMadeLate => true;

    internal override TypeKind Kind => TypeKind.Delegate;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var function = (Delegate)instance;
        MethodInfo method = function.Method;
        if (!function.HasSingleTarget) throw graph.CannotWrite(type, " of several methods");
        if (method.DeclaringType is not { } declaring || ObjectShapes.IsOfSystem(declaring))
            throw graph.CannotWrite(type, $" of {method.DeclaringType}.{method.Name}");
        to.WriteArrayHeader(4);
        if (graph.NameOfFunction(method) is { } name) to.WriteString(name);
        else if (GeneratedNames.IsGenerated(method.Name)) throw graph.CannotWrite(type, $" of {method.Name}, whose method is not known,");
        else WriteMethod(graph, ref to, method);
        WriteTypes(graph, ref to, declaring.GetGenericArguments());
        WriteTypes(graph, ref to, method.GetGenericArguments());
        graph.WriteTarget(ref to, declaring, IsStatics(function.Target) ? null : function.Target);
    }

    /// <summary>The compiler keeps one delegate for all executions of a lambda without captures.</summary>
    internal override object? ValueOf(object instance) =>
        ((Delegate)instance).Target is { } target && !IsStatics(target) ? null : instance;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        if (from.ReadArrayHeader() != 4) throw new InvalidDataException("The image holds a delegate of another form.");
        MethodInfo method = from.PeekKind() == CborKind.Array ? ReadMethod(graph, ref from) : ReadFunction(graph, from.ReadString());
        Type[] ofClass = ReadTypes(graph, ref from), ofMethod = ReadTypes(graph, ref from);
        if (ofClass.Length > 0)
            method = (MethodInfo)MethodBase.GetMethodFromHandle(method.MethodHandle,
                Definition(method.DeclaringType!).MakeGenericType(ofClass).TypeHandle)!;
        if (ofMethod.Length > 0) method = method.MakeGenericMethod(ofMethod);
        object? target = _targets.Read(graph, ref from);
        if (target is null && !method.IsStatic) target = StaticsShape.Of(method.DeclaringType!);
        return Delegate.CreateDelegate(type, target, method);
    }

    private static bool IsStatics(object? target) => target is not null && GeneratedNames.IsStatics(target.GetType().Name);

    private static Type Definition(Type type) => type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type;

    private static void WriteMethod(GraphWriter graph, ref CborWriter to, MethodInfo method)
    {
        to.WriteArrayHeader(3);
        Type declaring = graph.ClassInImage(method.DeclaringType!);
        if (Find(declaring, method.Name, Parameters(method)) is null)
            throw graph.CannotWrite(method.DeclaringType!, $".{method.Name}, which {declaring.Name} does not have,");
        to.WriteUInt64((ulong)graph.Mention(declaring));
        to.WriteString(method.Name);
        to.WriteString(Parameters(method));
    }

    private static MethodInfo ReadMethod(GraphReader graph, ref CborReader from)
    {
        from.ReadArrayHeader();
        Type declaring = graph.TypeOf(from.ReadUInt64());
        string name = from.ReadString(), parameters = from.ReadString();
        return Find(declaring, name, parameters)
            ?? throw new InvalidDataException(
                $"The image holds a delegate of {declaring}.{name}({parameters}), which this app does not have.");
    }

    private static MethodInfo? Find(Type declaring, string name, string parameters) =>
        Array.Find(declaring.GetMethods(All), method => method.Name == name && Parameters(method) == parameters);

    private static MethodInfo ReadFunction(GraphReader graph, string name)
    {
        (MethodBodyTable? table, string id, string role) = TypeNames.PartsOfMade(name, graph.Types.Kept);
        return table?.FindFunction(id, role)
            ?? throw new InvalidDataException($"The image holds a delegate of {name}, which this app does not have.");
    }

    /// <summary>Returns the types of the parameters as declared, without the arguments of a generic instance.</summary>
    private static string Parameters(MethodInfo method) =>
        string.Join(',',
            ((MethodInfo)method.Module.ResolveMethod(method.MetadataToken)!).GetParameters()
                .Select(static each => each.ParameterType.ToString()));

    private static void WriteTypes(GraphWriter graph, ref CborWriter to, Type[] types)
    {
        to.WriteArrayHeader(types.Length);
        foreach (Type each in types) to.WriteUInt64((ulong)graph.Mention(each));
    }

    private static Type[] ReadTypes(GraphReader graph, ref CborReader from)
    {
        var types = new Type[from.ReadArrayHeader()];
        for (int i = 0; i < types.Length; i++) types[i] = graph.TypeOf(from.ReadUInt64());
        return types;
    }
}
