using Ambrosia.Protocol;
namespace Ambrosia.Simulation;
public sealed class ILedgerProxy : ImmortalProxy, IImmortalProxy<ILedgerProxy>
{
    private ILedgerProxy(ProxyTarget t) : base(t) { }
    public static ILedgerProxy Create(ProxyTarget target) => new(target);
    public static implicit operator ILedgerProxy(ProxyOf<ILedger> p) => new(p.Target);
    public void PutFork(ulong number, ulong value)
    {
        var m = BeginFork(1, 20);
        var w = new CborWriter(m.Body); w.WriteUInt64(number); w.WriteUInt64(value); w.Flush();
        SendFork(m);
    }
    public Call<ulong> NextAsync() => SendCall<ulong>(BeginCall(2));
    protected override void Complete(ArrivedResult result)
    {
        if (result.Method == 2) { var r = new CborReader(result.Value); result.Complete(r.ReadUInt64()); }
        else base.Complete(result);
    }
}
public sealed class ISourceProxy : ImmortalProxy, IImmortalProxy<ISourceProxy>
{
    private ISourceProxy(ProxyTarget t) : base(t) { }
    public static ISourceProxy Create(ProxyTarget target) => new(target);
    public void ContinueFork() => SendFork(BeginFork(1));
    public void AskFork() => SendFork(BeginFork(2));
}
public sealed partial class Ledger : IImmortal<Ledger>
{
    public static ulong ContractHash => 1;
    public static Ledger Create() => new();
    protected override void Dispatch(ref IncomingMessage message)
    {
        if (message.Method == 1) { var r = new CborReader(message.Arguments); Put(r.ReadUInt64(), r.ReadUInt64()); message.Done(); }
        else if (message.Method == 2)
        {
            ulong v = Next();
            if (!message.WantsResult) return;
            var m = message.BeginResult(); var w = new CborWriter(m.Body); w.WriteUInt64(v); w.Flush(); message.SendResult(m);
        }
        else message.Unknown();
    }
}
public sealed partial class Source : IImmortal<Source>
{
    public static ulong ContractHash => 2;
    public static Source Create() => new();
    protected override void Dispatch(ref IncomingMessage message)
    {
        if (message.Method == 1) { Continue(); message.Done(); }
        else if (message.Method == 2) message.Done(Ask());
        else message.Unknown();
    }
}
