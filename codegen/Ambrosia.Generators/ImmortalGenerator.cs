using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Text;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Determinism;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Immortals;
using Ambrosia.Generators.Proxies;
using Ambrosia.Generators.Roslyn;
using Ambrosia.Generators.Serialization;
using Ambrosia.Generators.State;
using Ambrosia.Generators.Suspension;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Generators;

/// <summary>
/// Generates proxies for contracts, dispatch for immortals, codecs for data types and state, and the contract manifest. This class
/// connects: readers make models of syntax, and sources make code of models. Models are compared by value, so an edit that changes no model
/// generates no code again. The compiler calls every method, on threads of its choice; nothing here is mutable.
/// </summary>
[Generator(LanguageNames.CSharp)]
public sealed class ImmortalGenerator : IIncrementalGenerator
{
    /// <summary>These are the names of the steps whose caching the tests watch.</summary>
    internal const string ContractStep = "Contract", ClientStep = "Client", ImmortalStep = "Immortal", DataStep = "Data",
        ManifestStep = "Manifest", SuspendableStep = "Suspendable", StateStep = "State";

    /// <summary>Registers the steps with the compiler: what to read, what to make of it, and what to report.</summary>
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValueProvider<string?> tooOld = context.ParseOptionsProvider.Select(static (options, _) => TooOld(options));
        IncrementalValueProvider<ImmutableArray<ReadResult<ImmortalModel>>> immortals = Understood(tooOld, context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ImmortalReader.IsCandidate(node), ImmortalReader.Read)
            .Where(static found => found is not null)!.Collect<ReadResult<ImmortalModel>>());
        IncrementalValueProvider<ImmutableArray<ReadResult<DataModel>>> data = Understood(tooOld,
            context.SyntaxProvider.ForAttributeWithMetadataName(
                "Ambrosia.DataAttribute", static (node, _) => node is TypeDeclarationSyntax,
                static (found, cancel) => DataReader.ReadForCodec((INamedTypeSymbol)found.TargetSymbol, cancel)).Collect());
        IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> contracts = Understood(tooOld, ReadContracts(context));
        IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> called = Understood(tooOld, context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ClientUseReader.IsCandidate(node), ClientUseReader.Read)
            .Where(static found => found is not null)!.Collect<ReadResult<ContractModel>>());

        GenerateCalls(context, contracts, called, immortals);
        GenerateDataAndManifest(context, contracts, data);
        GenerateState(context, GenerateSuspendables(context, tooOld), tooOld);
        Report(context, immortals, contracts.Combine(called).Select(static (both, _) => both.Left.AddRange(both.Right)), data);
    }

    /// <summary>Returns the language version that does not understand what is generated; null where it does.</summary>
    private static string? TooOld(ParseOptions options) =>
        options is CSharpParseOptions { LanguageVersion: < LanguageVersion.CSharp12 and var version } ? version.ToDisplayString() : null;

    /// <summary>Leaves what was found as it is, or where the language is too old the one diagnostic that says so.</summary>
    private static IncrementalValueProvider<ImmutableArray<ReadResult<T>>> Understood<T>(
        IncrementalValueProvider<string?> tooOld, IncrementalValueProvider<ImmutableArray<ReadResult<T>>> found)
        where T : class, IEquatable<T> => found.Combine(tooOld).Select(static (both, _) =>
            both is not { Right: { } version, Left.IsEmpty: false } ? both.Left
            : [new ReadResult<T>(null, new([DiagnosticInfo.Of(DiagnosticRules.Language, at: default(Location), version)]))]);

    /// <summary>
    /// Finds the contracts of this compilation. One is found by an immortal that implements it, by its attribute, or by its use.
    /// </summary>
    private static IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> ReadContracts(
        IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<ReadResult<ContractModel>> implemented = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ImmortalReader.IsCandidate(node), ImmortalReader.ReadContract)
            .Where(static found => found is not null)!;
        IncrementalValuesProvider<ReadResult<ContractModel>> marked = context.SyntaxProvider.ForAttributeWithMetadataName(
            "Ambrosia.ContractAttribute", static (node, _) => node is InterfaceDeclarationSyntax,
            static (found, cancel) => ContractReader.Read((INamedTypeSymbol)found.TargetSymbol, cancel));
        IncrementalValuesProvider<ReadResult<ContractModel>> used = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ProxyUseReader.IsCandidate(node), ProxyUseReader.Read)
            .Where(static found => found is not null)!;
        return implemented.Collect().Combine(marked.Collect()).Combine(used.Collect())
            .Select(static (all, _) => all.Left.Left.AddRange(all.Left.Right).AddRange(all.Right));
    }

    /// <summary>Generates both ends of a call: proxies for immortals, methods for clients outside, and dispatch.</summary>
    private static void GenerateCalls(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> contracts,
        IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> called,
        IncrementalValueProvider<ImmutableArray<ReadResult<ImmortalModel>>> immortals)
    {
        GenerateEach(context, contracts.Select(static (found, _) => ByName(found, static model => model.FullName)), ContractStep,
            static contract => $"{contract.FullName}Proxy", ProxySource.Of);
        GenerateEach(context, called.Select(static (found, _) => ByName(found, static model => model.FullName)), ClientStep,
            static contract => $"{contract.FullName}ClientCalls", ClientSource.Of);
        GenerateEach(context, immortals.Select(static (found, _) => ByName(found, static model => model.FullName)), ImmortalStep,
            static immortal => $"{immortal.FullName}.Dispatch", DispatchSource.Of);
    }

    private static void GenerateDataAndManifest(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> contracts,
        IncrementalValueProvider<ImmutableArray<ReadResult<DataModel>>> data)
    {
        IncrementalValueProvider<EquatableArray<DataModel>> types = data.Select(
            static (found, _) => ByName(found, static model => model.Schema));
        GenerateEach(context, types, DataStep, static model => $"{model.Schema}.DataCodec", DataSource.Of);
        context.RegisterSourceOutput(
            contracts.Select(static (found, _) => ByName(found, static model => model.FullName)).Combine(types)
                .Combine(context.CompilationProvider.Select(static (compilation, _) => compilation.AssemblyName ?? ""))
                .WithTrackingName(ManifestStep),
            static (output, all) =>
            {
                (EquatableArray<ContractModel> contracts, EquatableArray<DataModel> types) = all.Left;
                if (contracts.Count > 0 || types.Count > 0)
                    Add(output, "ContractManifest", Manifest.SourceOf(all.Right, contracts, types));
            });
    }

    /// <summary>Generates the table of methods that can be suspended, and returns them: what their locals hold is state.</summary>
    private static IncrementalValueProvider<EquatableArray<SuspendableModel>> GenerateSuspendables(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<string?> tooOld)
    {
        IncrementalValueProvider<EquatableArray<SuspendableModel>> suspendable = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => SuspendableReader.IsCandidate(node), SuspendableReader.Read)
            .Where(static found => found is not null).Collect().Combine(tooOld)
            .Select(static (all, _) => all.Right is null ? new EquatableArray<SuspendableModel>(all.Left!) : default)
            .WithTrackingName(SuspendableStep);
        context.RegisterSourceOutput(suspendable, static (output, all) =>
        {
            if (all.Count > 0) Add(output, KnownBodies.Suspendables, SuspendableSource.Of(all));
        });
        return suspendable;
    }

    /// <summary>
    /// Generates the codecs of types that can be state. Which ones those are is decided on models, so an edit that adds no field to any of
    /// them generates nothing again.
    /// </summary>
    private static void GenerateState(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<EquatableArray<SuspendableModel>> suspendable,
        IncrementalValueProvider<string?> tooOld)
    {
        IncrementalValueProvider<ImmutableArray<StateModel?>> types = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => StateReader.IsCandidate(node), StateReader.Read)
            .Where(static model => model is not null).Collect().Combine(tooOld)
            .Select(static (all, _) => all.Right is null ? all.Left : []);
        IncrementalValueProvider<EquatableArray<StateModel>> state = types.Combine(suspendable)
            .Select(static (all, _) => StateReachability.Of(all.Left!, all.Right.SelectMany(static method => method.LocalTypes)));
        GenerateEach(context, state, StateStep,
            static model => $"{model.Id.Replace("global::", "").Replace('<', '{').Replace('>', '}')}.State", StateSource.Of);
        context.RegisterSourceOutput(state, static (output, all) =>
        {
            if (all.Count > 0) Add(output, "StateRegistry", StateSource.RegistryOf(all));
        });
    }

    private static void Report(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<ImmutableArray<ReadResult<ImmortalModel>>> immortals,
        IncrementalValueProvider<ImmutableArray<ReadResult<ContractModel>>> contracts,
        IncrementalValueProvider<ImmutableArray<ReadResult<DataModel>>> data)
    {
        IncrementalValueProvider<EquatableArray<DiagnosticInfo>> diagnostics = immortals.Combine(contracts).Combine(data)
            .Select(static (all, _) =>
                new EquatableArray<DiagnosticInfo>(
                    all.Left.Left.SelectMany(found => found.Diagnostics)
                        .Concat(all.Left.Right.SelectMany(found => found.Diagnostics))
                        .Concat(all.Right.SelectMany(found => found.Diagnostics))
                        .Distinct()));
        context.RegisterSourceOutput(diagnostics, static (output, all) =>
        {
            foreach (DiagnosticInfo diagnostic in all) output.ReportDiagnostic(diagnostic.ToDiagnostic());
        });
    }

    /// <summary>
    /// Keeps one model for each name, in the order of names. A class is found once by each of its parts, a contract once by each use.
    /// </summary>
    private static EquatableArray<T> ByName<T>(ImmutableArray<ReadResult<T>> found, Func<T, string> nameOf)
        where T : class, IEquatable<T>
    {
        var byName = new SortedDictionary<string, T>(StringComparer.Ordinal);
        foreach (ReadResult<T> each in found)
            if (each.Model is { } model) byName[nameOf(model)] = model;
        return new EquatableArray<T>(byName.Values);
    }

    /// <summary>Generates a file for each model. A file is generated again only if its model has changed.</summary>
    private static void GenerateEach<T>(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<EquatableArray<T>> models, string step,
        Func<T, string> nameOf, Func<T, string> sourceOf)
        where T : IEquatable<T> =>
        context.RegisterSourceOutput(
            models.SelectMany((all, _) => FilesOf(all, nameOf)).WithTrackingName(step),
            (output, file) => Add(output, file.Name, sourceOf(file.Model)));

    /// <summary>
    /// Gives each model the name of its file. The compiler wants names without the @ of keywords that differ in more than the case of their
    /// letters, so a further one of such a name gets a number.
    /// </summary>
    private static IEnumerable<SourceFile<T>> FilesOf<T>(IEnumerable<T> models, Func<T, string> nameOf)
        where T : IEquatable<T>
    {
        var taken = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        foreach (T model in models)
        {
            string plain = nameOf(model).Replace("@", ""), name = plain;
            for (int copy = 2; !taken.Add(name); copy++) name = $"{plain}.{copy}";
            yield return new SourceFile<T>(name, model);
        }
    }

    private static void Add(SourceProductionContext output, string name, string source) =>
        output.AddSource($"{name}.g.cs", SourceText.From(source, Encoding.UTF8));

    /// <summary>It stands for a file that is generated: its name, and the model of which its code is made.</summary>
    private sealed record SourceFile<T>(string Name, T Model)
        where T : IEquatable<T>;
}
