using System.Globalization;
using System.Numerics;
using System.Text;

namespace Ambrosia.EndToEnd.App;

/// <summary>Computes with what a compiler, a culture or a process might make different, and tells a ledger all of it.</summary>
public interface IMeter
{
    /// <returns>The reading so far, as the culture writes it.</returns>
    string Measure(double value, string place);
}

/// <summary>
/// Its state and its calls hang on floating point, on vectors, on the culture and on the order of hash tables, so that a view whose code is
/// compiled in another way shows whether any of it is another then.
/// </summary>
public sealed partial class Meter : Immortal<IMeterProxy>, IMeter
{
    private readonly Dictionary<string, double> _places = [];
    private readonly HashSet<string> _seen = [];
    private readonly ILedgerProxy _ledger;
    private double _sum;
    private float _single;

    public Meter() => _ledger = GetProxy<ILedger>(Settings.Peer);

    public string Measure(double value, string place)
    {
        _sum += Math.Sin(value) * Math.Exp(-value / 7) + Math.Pow(Math.Abs(value), 1.0 / 3) / 3;
        _single = (float)(_single * 0.9f + value) / 1.1f;
        _sum += Vector.Dot(new Vector<double>(_sum), new Vector<double>(value)) * 1e-9;
        _places[place] = _places.GetValueOrDefault(place) + _sum;
        if (!_seen.Add(place)) _seen.Remove(place);
        if (_places.Count > 20) _places.Remove(_places.Keys.First());
        string told = $"{_sum:N6} {_single:R} {string.Join(' ', _seen)} {string.Join(' ', _places.Values)}";
        _ledger.PutFork((ulong)BitConverter.DoubleToInt64Bits(_sum), Encoding.UTF8.GetBytes(told));
        return _sum.ToString("N3", CultureInfo.CurrentCulture);
    }
}
