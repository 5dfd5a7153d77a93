var O,Ar,En,Le,Rn,Ht,Rr,Bt,Pr,$n,Pn,js,bt=Symbol.for("pv"),jt={},Ft=[],Fs=/^m(i|n|o|s|text|space)$/,On=Array.isArray,Nn=Ft.slice,We=Object.assign;function qe(e){
e&&e.parentNode&&e.remove()}function Er(e,t,r){var a,s,o,i={},c=arguments.length;for(o in t)o=="key"?a=t[o]:o=="ref"&&typeof e!="function"?s=t[o]:i[o]=t[o];return c>
2&&(i.children=c>3?Nn.call(arguments,2):r),_t(e,i,a,s,null)}function _t(e,t,r,a,s){var o={type:e,props:t,key:r,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:bt,__v:s||++Ar,__i:-1,__u:0};return!s&&O.vnode&&O.
vnode(o),o}function w(e){return e.children}function at(e,t){this.props=e,this.context=t,this.__g=0}function Ie(e,t){if(t==null)return e.__&&Ie(e.__,e.__i+1);for(var r;t<e.
__k.length;t++)if((r=e.__k[t])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Ie(e)}function Js(e){var t,r=e.__v,a=r.__e,s=[],o=[],i=e.__P;
i&&((t=We({constructor:bt},r)).__v=r.__v+1,O.vnode&&O.vnode(t),Dn(i,t,r,e.__n,i.namespaceURI,32&r.__u?[a]:null,s,a||Ie(r),32&r.__u,o),t.__v=r.__v,t.__.__k[t.__i]=
t,Ir(s,t,o),r.__=r.__e=null,t.__e!=a&&$r(t))}function $r(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),
$r(e)}function Tr(e){(8&e.__g||(e.__g|=8,Le.push(e),Ht++))&&Rn==O.debounceRendering||((Rn=O.debounceRendering)||queueMicrotask)(Or)}function Or(){try{for(var e,
t=1;Le.length;)Le.length>t&&Le.sort(Rr),e=Le.shift(),t=Le.length,8&e.__g&&Js(e)}finally{(Ht=Le.length)&&(Rn||queueMicrotask)(Or)}}function Nr(e,t,r,a,s,o,i,c,l,u,d){
var f,m,p,g,k,_,b=a.__k||Ft,v=t.length;for(l=qs(r,t,b,l,v),f=0;f<v;f++)(p=r.__k[f])!=null&&(m=~p.__i&&b[p.__i]||jt,p.__i=f,_=Dn(e,p,m,s,o,i,c,l,u,d),g=p.__e,(m.
ref!=p.ref||8&m.__u)&&(m.ref&&Ln(m.ref,null,p,m),p.ref&&d.push(p.ref,p.__c||g,p)),k=k||g,4&p.__u?(l=Dr(p,l,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="functi\
on"&&_!==void 0?l=_:g&&(l=g.nextSibling),p.__u&=-21);return r.__e=k,l}function qs(e,t,r,a,s){var o,i,c,l,u,d,f,m,p,g=r.length,k=g,_=0,b=0,v=e.__k=Array(s);for(o=
0;o<s;o++)(i=t[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=v[o]=_t(null,i):On(i)?i=v[o]=_t(w,{children:i}):
i.constructor===bt&&i.__b?i=v[o]=_t(i.type,i.props,i.key,i.ref,i.__v):v[o]=i,l=o+_,i.__=e,i.__b=e.__b+1,c=null,~(u=i.__i=Ws(i,r,l,k))&&(k--,(c=r[u])&&(c.__u|=2)),
c&&c.__v?(i.__u|=16,u==l-1?_--:u==l+1?_++:u!=l&&(u>l?_--:_++,b=1)):(~u||(s>g?_--:s<g&&_++),typeof i.type!="function"&&(i.__u|=4))):v[o]=null;if(b){for(d=[],f=[],
o=0;o<s;o++)if((i=v[o])&&16&i.__u){for(_=0,m=d.length;_<m;)d[p=_+m>>1]<i.__i?_=p+1:m=p;d[_]=i.__i,f[o]=_+1}for(_=d.length;o--;)f[o]&&(f[o]==_?_--:v[o].__u|=4)}if(k)
for(o=0;o<g;o++)!(c=r[o])||2&c.__u||(c.__e==a&&(a=Ie(c)),In(c,c));return a}function Dr(e,t,r,a){var s,o,i,c;if(typeof e.type=="function"){if(e.props.__P)return t;
if(s=e.__k)for(o=0;o<s.length;o++)s[o]&&(s[o].__=e,t=Dr(s[o],t,r,!1));return t}for(t&&!t.parentNode&&(t=Ie(e))&&!t.parentNode&&(t=null),i=e.__e,c=t;c&&c.nodeType==
8;)c=c.nextSibling;for(i!=c&&(!a&&r.moveBefore&&i.parentNode?r.moveBefore(i,t):r.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(
"$s"););return t}function Ws(e,t,r,a){var s,o=e.key,i=e.type,c=t[r],l=c&&!(2&c.__u);if(c===null&&o==null||l&&o==c.key&&i==c.type)return r;if(a>(l?1:0)){for(s=r-1;s>=0;s--)if((c=
t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s;for(s=r+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s}return-1}function Cr(e,t,r){r==null&&
(r=""),t[0]=="-"?e.setProperty(t,r):e[t]=r}function Ut(e,t,r,a,s){var o,i;if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof a=="string"&&(e.style.
cssText=a=""),a)for(t in a)r&&t in r||Cr(e.style,t);if(r)for(t in r)a&&r[t]==a[t]||Cr(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")typeof r!="function"&&(r=null),
typeof a!="function"&&(a=null),(e.__e||(e.__e={}))[t]=r,r&&a||(i=Pn[t]||(Pn[t]=zs(t)),(e.__a||(e.__a={}))[t]=$n,o=t!=(t=t.replace(Pr,"$1")),(t=t.slice(2))[0]<"a"&&
(t=t.toLowerCase()),r?e.addEventListener(t,i,o):e.removeEventListener(t,i,o));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)
try{return void(e[t]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r)}}function zs(e){
return function(t){var r=this.__e;if(r){if(r=r[e],t[Bt]==null)t[Bt]=$n++;else if(t[Bt]<this.__a[e])return;return r(O.event?O.event(t):t)}}}function Dn(e,t,r,a,s,o,i,c,l,u){
var d,f,m,p,g,k,_,b,v,x,y,P,I,we,ee,ce,V,H,U=t.type;if(t.constructor!==bt)return null;128&r.__u&&(l=32&r.__u,d=r.__c.__z)&&(t.__u|=l,f=o=[],d.nodeType==8?c=Mt(d,
o):o.push(d),c=o[0]||c),(d=O.__b)&&d(t);e:if(typeof U=="function"){m=i.length;try{if(b=t.props,v=(d=U.prototype)&&d.render,x=(d=U.contextType)&&a[d.__c],y=d?x?x.
props.value:d.__:a,(p=r.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(v?t.__c=p=new U(b,y):(t.__c=p=new at(b,y),p.constructor=U,p.render=Vs),x&&x.sub(p),p.state||(p.state=
{}),p.__n=a,p.__g|=8,p.__h=[],p.__k=[]),v&&(p.__s||(p.__s=p.state),U.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=We({},p.__s)),We(p.__s,U.getDerivedStateFromProps(
b,p.__s)))),g=p.props,k=p.state,p.__v=t,r.__c){if(b!==g&&v&&!U.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(b,y),t.__v==r.
__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(b,p.__s,y)===!1){t.__v!=r.__v&&(p.props=b,p.state=p.__s,p.__g&=-9),t.__e=r.__e,t.__k=
r.__k,t.__k.some(function(F){F&&(F.__=t)}),Ft.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),c=Ie(r);break e}p.componentWillUpdate&&p.componentWillUpdate(
b,p.__s,y),v&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(g,k,_)})}else v&&!U.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),
v&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=y,p.props=b,p.__P=e,p.__g&=-5,P=O.__r,I=v?25:0;do p.__g&=-9,P&&P(t),d=p.render(p.props,p.state=
p.__s,p.context);while(8&p.__g&&++I<25);v&&(Ft.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(a=We({},a,p.getChildContext())),v&&r.__c&&p.getSnapshotBeforeUpdate&&
(_=p.getSnapshotBeforeUpdate(g,k)),we=d&&d.type===w&&d.key==null?d.props.children:d,b.__P&&(d=c,s=(e=b.__P).namespaceURI,l=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(F){F&&In(F,F)}),r.__k=null),c=r.__k?Ie(r,0):null),c=Nr(e,On(we)?we:[we],t,r,a,s,o,i,c,l,u),b.__P&&(t.__e=null,c=d),t.__u&=-161,f&&f.some(qe),p.__h.
length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(F){if(i.length=m,t.__v=null,l||o)if(F&&F.then){if(t.__u|=128|l,o){for(~(V=o.indexOf(c||void 0))||(V=o.length);(H=o[V-
1])&&H.nodeType==8;)V--;for(;V<o.length;V++)if(H=o[V])if(o[V]=null,ee){if(H==ce)break}else{if(H.nodeType!=8)break;H.data.startsWith("$s")&&(ce=Mt(ee=H))}}if(!ee){
for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;ee=c}(d=Mt(ee=t.__c.__z||(t.__c.__z=ee)))?(t.__e=ee,c=d):t.__e=c,c=c&&c.nextSibling}else o&&o.some(qe);else
t.__e=r.__e;t.__k||(t.__k=r.__k||[]),F&&F.then||Lr(t),O.__e(F,t,r)}}else c=t.__e=Ks(r.__e,t,r,a,s,o,i,l,u,e);return(d=O.diffed)&&d(t),c}function Mt(e,t){if(e&&e.
nodeType==8&&e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}
t&&t.push(e)}}function Lr(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Lr))}function Ir(e,t,r){for(var a=0;a<r.length;)Ln(r[a++],r[a++],r[a++]);O.__c&&O.__c(t,
e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(o){o.call(s)})}catch(o){O.__e(o,s.__v)}})}function Ks(e,t,r,a,s,o,i,c,l,u){var d,f,m,p,g,k,_,b,v=r.props||
jt,x=t.props,y=t.type;if(y=="svg"?s="http://www.w3.org/2000/svg":y=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),o){for(d=
0;d<o.length;d++)if((g=o[d])&&(y?g.localName==y:g.nodeType==3)){e=g,o[d]=null;break}}if(!e){if(b=u.ownerDocument||document,!y)return b.createTextNode(x);e=b.createElementNS(
s,y,x.is?x:u),c&&(O.__m&&O.__m(t,o),c=!1),o=null}if(y){if(u=y=="template"&&e.content||e,o=y=="textarea"&&x.defaultValue!=null?null:o&&Nn.call(u.childNodes),!c&&
o)for(v={},d=0;d<e.attributes.length;d++)v[(g=e.attributes[d]).name]=g.value;for(d in v)g=v[d],d=="dangerouslySetInnerHTML"?m=g:d=="children"||d in x||d=="value"&&
"defaultValue"in x||d=="checked"&&"defaultChecked"in x||Ut(e,d,null,g,s);for(d in x)g=x[d],d=="children"?p=g:d=="dangerouslySetInnerHTML"?f=g:d=="value"?k=g:d==
"checked"?_=g:c&&typeof g!="function"||v[d]===g||Ut(e,d,g,v[d],s);f?(c||m&&(f.__html==m.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(m&&(e.
textContent=""),(y=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Fs.test(y))&&(s="http://www.w3.org/1999/xhtml"),Nr(u,On(p)?p:[p],t,r,a,s,o,i,o?o[0]:
r.__k&&Ie(r,0),c,l),o&&o.some(qe)),c&&y!="textarea"||(d="value",y=="progress"&&k==null?e.removeAttribute(d):k==null||k===e[d]&&(y!="progress"||k)||Ut(e,d,k,v[d],
s),d="checked",_!=null&&_!=e[d]&&Ut(e,d,_,v[d],s))}else v===x||c&&e.data==x||(e.data=x);return e}function Ln(e,t,r,a){try{typeof e=="function"?t?t.__x=e(t)||1:a&&
(a=a.__c||a.__e)&&(t=a.__x)&&(a.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){O.__e(s,r)}}function In(e,t,r){var a,s,o,i;if(O.unmount&&O.unmount(
e),!(a=e.ref)||a.current&&a.current!=e.__e||Ln(a,null,t,e),a=e.__c){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(c){O.__e(c,t)}a.__P=a.__n=null}
if(a=e.__k)for(i=0;i<a.length;i++)a[i]&&In(a[i],t,typeof e.type!="function"||r&&!e.props.__P);!r&&(a=e.__c)&&(a=a.__z)&&(s=Mt(a,o=[]))&&(a==e.__e&&o.some(qe),qe(
s),qe(a)),r||qe(e.__e),e.__e=e.__c=e.__=null}function Vs(e,t,r){return this.constructor(e,r)}function Ur(e,t){var r,a,s,o;O.__&&O.__(e,t),t.nodeType==9&&(t=t.documentElement),
a=(r=e&&32&e.__u)?null:t.__k,t.__k=_t(w,{children:[e]}),s=[],o=[],Dn(t,t.__k,a||jt,jt,t.namespaceURI,a?null:t.firstChild?Nn.call(t.childNodes):null,s,a?a.__e:t.
firstChild,r,o),Ir(s,t.__k,o),t.__k.props.children=null}O={__e:function(e,t,r,a){for(var s,o,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(o=s.constructor)&&o.getDerivedStateFromError)&&s.setState(o.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,a||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw Ht=0,e}},Ar=0,En=function(e){return e!=null&&e.
constructor===bt},at.prototype.setState=function(e,t){var r=this.__s;r&&r!=this.state||(r=this.__s=We({},this.state)),typeof e=="function"&&(e=e(We({},r),this.props)),
e&&(We(r,e),this.__v&&(t&&this.__k.push(t),Tr(this)))},at.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Tr(this))},at.prototype.render=
w,Le=[],Ht=0,Rr=function(e,t){return e.__v.__b-t.__v.__b},Bt=Symbol(),Pr=/(PointerCapture)$|Capture$/i,$n=0,Pn={},js=0;var ze,G,Un,Br,Bn=Object.is,Jt=0,Kr=[],Mn=[],Z=O,Mr=Z.__b,Hr=Z.__r,jr=Z.diffed,Fr=Z.__c,Jr=Z.unmount,qr=Z.__;function wt(e,t){Z.__h&&Z.__h(G,e,Jt||t),Jt=0;var r=G.
__H||(G.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return Jt=1,Zs(Vr,e)}function Zs(e,t,r){var a=wt(ze++,2);if(a.t=e,!a.__c&&
(a.__=[r?r(t):Vr(void 0,t),function(o){var i=(a.__N||a.__)[0],c=a.t(i,o);Bn(i,c)||(a.__N=[c,a.__[1]],a.__c.setState({}))}],a.__c=G,!G.__f)){G.__f=!0;var s=G.shouldComponentUpdate;
G.shouldComponentUpdate=function(o,i,c){var l=this.__H;if(!l)return!0;var u=!1,d=this.props!=o;if(l.__.some(function(m){m.__N&&(u=!0,Bn(m.__[0],m.__N[0])||(d=!0))}),
s){var f=s.call(this,o,i,c);return u?f||d:f}return!u||d}}return a.__}function Y(e,t){var r=wt(ze++,3);!Z.__s&&jn(r.__H,t)&&(r.__P=!0,r.__=e,r.u=t,G.__H.__h.push(
r))}function qt(e,t){var r=wt(ze++,4);!Z.__s&&jn(r.__H,t)&&(r.__P=!1,r.__=e,r.u=t,G.__h.push(r))}function q(e){return Jt=5,Wt(function(){return{current:e}},[])}function Wt(e,t){var r=wt(ze++,7);return jn(r.__H,t)&&(r.__=e(),r.__H=t),r.__}function kt(){var e=wt(ze++,11);if(!e.__){for(var t=G.__v;!t.__m&&t.__;)t=t.__;var r=t.__m||(t.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Gs(){var e;
do{for(;e=Mn.shift();)try{vt(e)}catch(r){Z.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=Kr.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(vt),t.__h.some(Hn),t.__h=[]}catch(r){
t.__h=[],Z.__e(r,e.__v)}}}while(Mn.length)}Z.__b=function(e){G=null,Mr&&Mr(e)},Z.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),qr&&qr(e,t)},Z.__r=function(e){
Hr&&Hr(e),ze=0;var t=(G=e.__c).__H;t&&(Un==G?G.__h=[]:(t.__h.some(vt),t.__h.some(Hn),ze=0),t.__h=[],t.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
Un=G},Z.diffed=function(e){jr&&jr(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&zr(Kr.push(t)),t.__H.__.some(function(r){r.u&&(r.__H=r.u)})),Un=G=null},Z.__c=function(e,t){
t.some(function(r){try{r.__h.some(vt),r.__h=r.__h.filter(function(a){return!a.__||Hn(a)})}catch(a){r.__h=[function(){throw a}]}}),Fr&&Fr(e,t)},Z.unmount=function(e){
Jr&&Jr(e);var t,r,a=e.__c;a&&a.__H&&(a.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
zr(Mn.push(s))}else vt(s)}catch(o){t=o}}),a.__H=void 0,t&&Z.__e(t,a.__v))};var Wr=typeof requestAnimationFrame=="function";function Ys(e){var t,r=function(){clearTimeout(
a),Wr&&cancelAnimationFrame(t),setTimeout(e)},a=setTimeout(r,35);Wr&&(t=requestAnimationFrame(r))}function zr(e){e!=1&&Br==Z.requestAnimationFrame||((Br=Z.requestAnimationFrame)||
Ys)(Gs)}function vt(e){var t=G,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),G=t}function Hn(e){var t=G;e.__c=e.__(),G=t}function jn(e,t){return!e||e.length!=
t.length||t.some(function(r,a){return!Bn(r,e[a])})}function Vr(e,t){return typeof t=="function"?t(e):t}var Qs=Symbol.for("preact-signals");function Zt(){if(Ee>1)Ee--;else{var e,t=!1;for((function(){var s=Kt;for(Kt=void 0;s!==void 0;){var o=s.S;if(o.v===s.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=o.i);s=s.o}})();St!==void 0;){var r=St;for(St=void 0,zt++;r!==void 0;){var a=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&Gr(r))try{r.
c()}catch(s){t||(e=s,t=!0)}r=a}}if(zt=0,Ee--,t)throw e}}function Jn(e){if(Ee>0)return e();Fn=++Xs,Ee++;try{return e()}finally{Zt()}}var xt,J=void 0;function Tt(e){
var t=J,r=xt;J=void 0,xt=void 0;try{return e()}finally{J=t,xt=r}}var St=void 0,Ee=0,zt=0,Xs=0,Fn=0,Kt=void 0,Vt=0;function Zr(e){if(J!==void 0){var t=e.n;if(t===
void 0||t.t!==J)return t={i:0,S:e,p:J.s,n:void 0,t:J,e:void 0,x:void 0,r:t},J.s!==void 0&&(J.s.n=t),J.s=t,e.n=t,32&J.f&&e.S(t),t;if(t.i===-1)return t.i=0,t.n!==
void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=J.s,t.n=void 0,J.s.n=t,J.s=t),t}}function te(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
t?.watched,this.Z=t?.unwatched,this.name=t?.name}te.prototype.brand=Qs;te.prototype.h=function(){return!0};te.prototype.S=function(e){var t=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:Tt(function(){var a;(a=t.W)==null||a.call(t)}))};te.prototype.U=function(e){var t=this;if(this.t!==void 0){var r=e.
e,a=e.x;r!==void 0&&(r.x=a,e.e=void 0),a!==void 0&&(a.e=r,e.x=void 0),e===this.t&&(this.t=a,a===void 0&&Tt(function(){var s;(s=t.Z)==null||s.call(t)}))}};te.prototype.
subscribe=function(e){var t=this;return ge(function(){var r=t.value;Tt(function(){return e(r)})},{name:"sub"})};te.prototype.valueOf=function(){return this.value};
te.prototype.toString=function(){return this.value+""};te.prototype.toJSON=function(){return this.value};te.prototype.peek=function(){var e=this;return Tt(function(){
return e.value})};Object.defineProperty(te.prototype,"value",{get:function(){var e=Zr(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if(zt>100)throw new Error("Cycle detected");(function(r){Ee!==0&&zt===0&&r.l!==Fn&&(r.l=Fn,Kt={S:r,v:r.v,i:r.i,o:Kt})})(this),this.v=e,this.i++,Vt++,Ee++;try{
for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{Zt()}}}});function W(e,t){return new te(e,t)}function Gr(e){for(var t=e.s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.
S.h()||t.S.i!==t.i)return!0;return!1}function Yr(e){for(var t=e.s;t!==void 0;t=t.n){var r=t.S.n;if(r!==void 0&&(t.r=r),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function Qr(e){for(var t=e.s,r=void 0;t!==void 0;){var a=t.p;t.i===-1?(t.S.U(t),a!==void 0&&(a.n=t.n),t.n!==void 0&&(t.n.p=a)):r=t,t.S.n=t.r,t.r!==void 0&&(t.r=
void 0),t=a}e.s=r}function Ke(e,t){te.call(this,void 0,t),this.x=e,this.s=void 0,this.g=Vt-1,this.f=4}Ke.prototype=new te;Ke.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Vt))return!0;if(this.g=Vt,this.f|=1,this.i>0&&!Gr(this))return this.f&=-2,!0;var e=J;try{Yr(this),J=this;
var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return J=e,Qr(this),this.f&=-2,!0};Ke.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}te.prototype.S.call(this,e)};Ke.prototype.U=function(e){if(this.
t!==void 0&&(te.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};Ke.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(Ke.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Zr(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function Ve(e,t){return new Ke(e,t)}function Xr(e){var t=e.j;if(e.j=void 0,typeof t==
"function"){Ee++;var r=J;J=void 0;try{t()}catch(a){throw e.f&=-2,e.f|=8,qn(e),a}finally{J=r,Zt()}}}function qn(e){for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,
e.s=void 0,Xr(e)}function eo(e){if(J!==this)throw new Error("Out-of-order effect");Qr(this),J=e,this.f&=-2;try{8&this.f&&qn(this)}finally{Zt()}}function st(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,xt&&xt.push(this)}st.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var t=this.x();typeof t=="function"&&(this.j=t)}finally{e()}};st.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,Xr(this),Yr(this),Ee++;var e=J;return J=this,eo.bind(this,e)};st.prototype.N=function(){2&this.f||(this.f|=2,this.u=St,St=this)};st.prototype.d=function(){
this.f|=8,1&this.f||qn(this)};st.prototype.dispose=function(){this.d()};function ge(e,t){var r=new st(e,t);try{r.c()}catch(s){throw r.d(),s}var a=r.d.bind(r);return a[Symbol.
dispose]=a,a}var ea,Yt,Gt,to=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var ta=[];ge(function(){ea=this.N})();function ot(e,t){O[e]=t.bind(null,O[e]||function(){})}function Ct(e){if(Gt){var t=Gt;Gt=void 0,t()}Gt=e&&e.S()}function na(e){
var t=this,r=e.data,a=ro(r);a.name="ReactiveDom",a.value=r;var s=Wt(function(){for(var c=t,l=t.__v;l=l.__;)if(l.__c){l.__c.__$f|=4;break}var u=Ve(function(){var p=a.
value.value;return p===0?0:p===!0?"":p||""}),d=Ve(function(){return!Array.isArray(u.value)&&!En(u.value)}),f=ge(function(){if(this.N=ra,d.value){var p=u.value;c.
__v&&c.__v.__e&&c.__v.__e.nodeType===3&&(c.__v.__e.data=p)}}),m=t.__$u.d;return t.__$u.d=function(){f(),m.call(this)},[d,u]},[]),o=s[0],i=s[1];return o.value?i.
peek():i.value}na.displayName="ReactiveTextNode";Object.defineProperties(te.prototype,{constructor:{configurable:!0,value:Er(w,null).constructor},type:{configurable:!0,
value:na},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});ot("__b",function(e,t){if(Ct(),
Yt=void 0,typeof t.type=="string"){var r,a=t.props;for(var s in a)if(s!=="children"){var o=a[s];o instanceof te&&(r||(t.__np=r={}),r[s]=o,a[s]=o.peek())}}e(t)});
ot("__r",function(e,t){if(e(t),t.type!==w){Ct();var r,a=t.__c;a&&(a.__$f&=-2,(r=a.__$u)===void 0&&(a.__$u=r=(function(s,o){var i;return ge(function(){i=this},{name:o}),
i.c=s,i})((function(s){return function(){var o;to&&((o=this.y)==null||o.call(this)),s.__$f|=1,s.setState({})}})(a),typeof t.type=="function"?t.type.displayName||
t.type.name:""))),Yt=a,Ct(r)}});ot("__e",function(e,t,r,a){Ct(),Yt=void 0,e(t,r,a)});ot("diffed",function(e,t){Ct(),Yt=void 0;var r;if(typeof t.type=="string"&&
(r=t.__e)){var a=t.__np,s=t.props,o=r.U;if(o)for(var i in o){var c=o[i];c===void 0||a&&i in a||(c.d(),o[i]=void 0)}if(a){o||(o={},r.U=o);for(var l in a){var u=o[l],
d=a[l];u===void 0?(u=no(r,l,d,s),o[l]=u):u.o(d,s)}}}e(t)});function no(e,t,r,a){var s=t in e&&e.ownerSVGElement===void 0,o=W(r);return{o:function(i,c){o.value=i,
a=c},d:ge(function(){this.N=ra;var i=o.value.value;a[t]!==i&&(a[t]=i,s?e[t]=i:i!=null&&(i!==!1||t[4]==="-")?e.setAttribute(t,i):e.removeAttribute(t))})}}ot("unm\
ount",function(e,t){if(typeof t.type=="string"){var r=t.__e;if(r){var a=r.U;if(a){r.U=void 0;for(var s in a){var o=a[s];o&&o.d()}}}var i=t.__np;if(i){var c=t.props;
for(var l in i)c[l]=i[l]}t.__np=void 0}else{var u=t.__c;if(u){u.__$f|=8;var d=u.__$u;d&&(u.__$u=void 0,d.d())}}e(t)});ot("__h",function(e,t,r,a){a<3&&(t.__$f|=2),
e(t,r,a)});at.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var r=this.__$u,a=r&&r.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(a||o||4&this.__$f)||1&this.__$f)return!0}else if(!(a||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var c in this.props)if(!(c in e))return!0;return!1};function ro(e,t){return Wt(function(){return W(e,t)},[])}var ao=function(e){queueMicrotask(function(){queueMicrotask(e)})};function so(){Jn(function(){for(var e;e=ta.shift();)ea.call(e)})}function ra(){ta.push(this)===1&&(O.requestAnimationFrame||ao)(so)}var aa=new URL("../",document.baseURI),Ze=document.querySelector('meta[name="timerbus"]'),ye={version:Ze?.content??"",readOnly:Ze?.dataset.readOnly==="true",hidePayloads:Ze?.
dataset.hidePayloads==="true",signIn:{issuer:Ze?.dataset.issuer??"",audience:Ze?.dataset.audience??"",clientID:Ze?.dataset.clientId??"",scopes:Ze?.dataset.scopes??
""}},fe=class extends Error{constructor(r,a,s,o=0){super(s);this.status=r;this.code=a;this.retryAfter=o}status;code;retryAfter};function ne(e){return e instanceof
fe?e:new fe(0,"UNEXPECTED",String(e))}var Wn="timerbus-token",$e=W(sessionStorage.getItem(Wn)??""),xe=W(null),Ue=W(null);function it(e){$e.value=e,e?sessionStorage.
setItem(Wn,e):sessionStorage.removeItem(Wn)}var Qt=W(0);async function zn(e,t){let r=new Headers(t.headers);$e.value&&r.set("Authorization",`Bearer ${$e.value}`);
let a;try{a=await fetch(new URL(e,aa),{...t,headers:r,cache:"no-store"})}catch(o){throw t.signal?.aborted?o:new fe(0,"UNREACHABLE","The service cannot be reache\
d: it may be stopped, or the network is down.")}let s=Date.parse(a.headers.get("Date")??"");if(!Number.isNaN(s)){let o=s+500-Date.now();Qt.value=Math.abs(o)>2e3?
o:0}return a}async function Kn(e){let{status:t,statusText:r}=e,a=await e.json().catch(()=>null),s=Number(e.headers.get("Retry-After"))*1e3||0;return new fe(t,String(
a?.error??`HTTP_${t}`),String(a?.message??`The server answered ${t} ${r}.`),s)}function sa(e){let{rawJSON:t}=JSON;return t?JSON.parse(e,(a,s,o)=>typeof s=="numb\
er"&&o?.source!==void 0&&o.source.length>15?t(o.source):s):JSON.parse(e)}function At(e){if(!e.trim())return{};try{return{value:sa(e)}}catch(t){return{error:`The\
 payload is not JSON: ${t.message}`}}}var Ge;function oa(e,t,r){Ge={path:e,body:JSON.stringify(t),answer:Xt(e,t)},Ge.answer.catch(()=>{}),r(),Ge=void 0}async function Xt(e,t,r,a={}){
if(Ge?.path===e&&Ge.body===JSON.stringify(t)){let{answer:o}=Ge;return Ge=void 0,o}let s=await zn("api/v1/"+e,{method:"POST",body:JSON.stringify(t),headers:{"Con\
tent-Type":"application/json",...a},signal:r??null});if(!s.ok){let o=await Kn(s);throw o.status===401&&!r?.aborted&&(Ue.value=o.message),o}return s}async function Be(e,t,r){
let a=await Xt(e,t,r),s=await a.text();return{data:s?sa(s):void 0,late:a.status===202}}async function N(e,t,r){return(await Be(e,t,r)).data}async function ia(e){
let t=await zn("readyz",{signal:e}),r=await t.clone().json().catch(()=>null);if(r&&(t.ok?typeof r.status=="string":t.status===503&&r.reasons?.length))return r;throw await Kn(
t)}async function en(e){let t=await zn("metrics",{signal:e});if(!t.ok)throw await Kn(t);return t.text()}async function Rt(){let e=await N("caller/get",{});xe.value=
e,Ue.value=null}function oo(e,t){let r=e.split("*").map(a=>a.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(t)}function ca(e,t){
return xe.value?.grants.some(r=>r.verbs.includes(e)&&r.namespaces.some(t))??!1}function ie(e,t){return(e==="read"||!ye.readOnly)&&ca(e,r=>oo(r,t))}function ct(e){
return(e==="read"||!ye.readOnly)&&ca(e,t=>t==="*")}var ua=aa.href.replace(/\/$/,"");function la(e){let[t="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:t.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var re=W(la(location.hash));addEventListener("hashchange",()=>{re.value=la(location.hash)});function A(e,t={}){let r=Object.entries(
{ns:T.value,...t}).filter(([,a])=>a);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function ue(e,t={}){location.hash=A(e,t)}function _e(e){
let t=Object.fromEntries(re.value.query);delete t.cursor,ue(re.value.path,{...t,...e})}var da="timerbus-namespace",T=Ve(()=>re.value.query.get("ns")||localStorage.
getItem(da)||"default");ge(()=>{localStorage.setItem(da,T.value)});var tn=W([]),Vn=W(!1);async function nn(e){let t=[],r;for(;;){let a=await N("namespaces/list",
{limit:200,cursor:r},e);if(t=t.concat(a.namespaces),r=a.nextCursor,!r||t.length>=1e3)break}return e.aborted||(tn.value=t,Vn.value=r!==void 0),t}function rn(e,t){
let r=W(localStorage.getItem(e)??t);return ge(()=>{localStorage.setItem(e,r.value)}),r}var ke=rn("timerbus-zone","local"),Me=rn("timerbus-theme","auto"),Se=rn("\
timerbus-live","on"),an=rn("timerbus-shortcuts","on");ge(()=>{Me.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=
Me.value});var Oe=W(null),pa=W(Date.now());setInterval(()=>{document.hidden||(pa.value=Date.now())},1e3);var fa=Ve(()=>pa.value+Qt.value),Pt=()=>Date.now()+Qt.value,
ut=W([]),io=1;function be(e,t="ok"){let r=io++;ut.value=[...ut.value,{id:r,text:e,kind:t}],t==="ok"&&setTimeout(()=>{Zn(r)},1e4)}function Zn(e){ut.value=ut.value.
filter(t=>t.id!==e)}var Gn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,ma=new Map;function co(){return ke.value==="utc"?"UTC":ke.value==="schedule"&&Oe.value?Oe.value:"loc\
al"}var Et=e=>String(e).padStart(2,"0");function me(e,t=co()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(t){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${Et(r.getMonth()+1)}-${Et(r.getDate())} ${Et(r.getHours())}:${Et(r.getMinutes())}\
:${Et(r.getSeconds())}`;default:{let a=ma.get(t);return a||(a=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:t}),ma.set(t,a)),a.
format(r)}}}function ha(e){return me(e).slice(11,16)}function He(e){let t=Math.abs(e);if(t<1)return t===0?"0 ms":"< 1 ms";if(t<1e3)return`${Math.round(t)} ms`;let r=t/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}var Ye=e=>e===
void 0?"\u2013":He(e*1e3);function ga(e,t){let r=(typeof e=="number"?e:Date.parse(e))-t,a=Math.abs(r);if(a<500)return"now";let s=a<12e4?`${Math.round(a/1e3)} s`:
He(a);return r>0?`in ${s}`:`${s} ago`}var R=e=>String(Number(e.toFixed(3))).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g,",");function ae(e,t){return`${R(e)} ${t}${e===
1?"":"s"}`}var uo={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Yn(e){let t=0;for(let[,r="0",a="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))
t+=Number(r)*(uo[a]??0);return t}function Q(e){if(!e)return"";let[,t]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return t&&Number(t)>24&&Number(t)%24===0?`${Number(t)/24}d`:
e.replace(/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function sn(e){return[e.rate&&`${R(e.rate.count)} per ${Q(e.rate.per)}`,e.concurrency&&`${R(e.concurrency)}\
 at a time`].filter(Boolean).join(", ")}var Re=()=>ke.value==="utc"?"UTC":"local";function je(e){return e?me(e,ke.value==="utc"?"UTC":"local").replace(" ","T"):
""}function he(e){if(!e)return;let t=new Date(ke.value==="utc"?`${e}Z`:e);return Number.isNaN(t.getTime())?void 0:t.toISOString()}function on(e){let[,t]=/^[^/?#]*\/\/([^/?#]*)/.
exec(e)??[];return t===void 0?e:t.slice(t.lastIndexOf("@")+1).toLowerCase()}function cn(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}\
'`}var lo=Symbol.for("pv"),po=0;function n(e,t,r,a,s,o){t||(t={});var i,c,l=t;if("ref"in l&&typeof e!="function")for(c in l={},t)c=="ref"?i=t[c]:l[c]=t[c];var u={type:e,props:l,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:lo,__v:--po,__i:-1,__u:0};return(s||o)&&(u.__source=s,u.__self=o),O.vnode&&O.vnode(u),u}var ya=!1;function z({title:e,crumb:t,actions:r,children:a}){let s=q(null);return Y(()=>{document.title=`${e} \xB7 Timerbus`},[e]),Y(()=>{ya&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),ya=!0},[]),n(w,{children:[n("div",{class:"page-head",children:[n("div",{class:"page-title",children:[t&&n("div",{class:"crumb",
children:t}),n("h1",{tabIndex:-1,ref:s,children:e})]}),r&&n("div",{class:"actions",children:r})]}),a]})}function E({title:e,aside:t,children:r,wide:a,flush:s}){
let o=kt();return n("section",{class:`card${a?" wide":""}${s?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&n("div",{class:"card-head",children:[n("h2",
{id:o,children:e}),t]}),r]})}function se({kind:e,children:t}){return n("span",{class:`badge ${e}`,children:t})}var Ne=({status:e})=>n(se,{kind:e,children:e});function D({
at:e,only:t}){if(!e)return n("span",{class:"muted",children:"\u2013"});let r=me(e);if(t==="absolute")return n("time",{dateTime:e,title:e,children:r});let a=ga(e,
fa.value);return t==="relative"?n("time",{dateTime:e,title:r,children:a}):n("time",{dateTime:e,title:e,class:"time",children:[n("span",{children:r})," ",n("span",
{class:"muted",children:a})]})}function S({kind:e="",...t}){return n("button",{type:"button",...t,class:`button ${e}`})}function Qn({text:e,label:t="Copy"}){let[
r,a]=h(!1);Y(()=>{if(!r)return;let o=setTimeout(()=>{a(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select();let i=document.execCommand("copy");if(o.remove(),!i)return}a(!0)};return n(
S,{kind:"small",onClick:()=>{s()},children:r?"Copied":t})}function $t({text:e,label:t}){return n("div",{class:"command",children:[n("pre",{tabIndex:0,"aria-labe\
l":t,children:n("code",{children:e})}),n(Qn,{text:e})]})}function M({title:e,children:t,command:r}){return n("div",{class:"empty",children:[n("p",{class:"empty-\
title",children:e}),t&&n("p",{class:"muted",children:t}),r&&n($t,{text:r,label:"Command"})]})}var fo={UNREACHABLE:"Not reachable",INCOMPLETE:"Not sent",401:"Not\
 signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many requests",503:"Not available",504:"Outcome unknown"};function de({error:e,
again:t}){return n("div",{class:"error",role:"alert",children:[n("div",{children:[n("strong",{children:fo[e.status||e.code]??"Failed"})," ",n("code",{children:[
e.status||""," ",e.code]}),n("p",{children:e.message})]}),t&&n(S,{kind:"small",onClick:t,children:"Try again"})]})}function j({of:e,children:t}){return n(w,{children:[
e.error&&n(de,{error:e.error,again:e.again}),e.data!==void 0?t(e.data):e.loading&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"\
Loading"})})]})}function Qe({title:e,close:t,children:r}){let a=q(null),s=kt();return Y(()=>{let o=a.current,i=document.activeElement;return o?.showModal(),()=>{
o?.close(),i?.focus()}},[]),n("dialog",{ref:a,"aria-labelledby":s,onCancel:o=>{o.preventDefault(),t()},children:[n("div",{class:"dialog-head",children:[n("h2",{
id:s,children:e}),n(S,{kind:"icon","aria-label":"Close",onClick:t,children:"\u2715"})]}),r]})}function _a({label:e,hint:t,children:r,error:a}){let s=kt(),o=t||a?
`${s}-hint`:void 0;return n("div",{class:"field",children:[n("label",{for:s,children:e}),r(s,o),(t||a)&&n("p",{id:o,class:a?"hint bad":"hint",children:a??t})]})}
function $({label:e,value:t,set:r,hint:a,error:s,type:o="text",placeholder:i,required:c,mono:l,step:u}){return n(_a,{label:e,hint:a,error:s,children:(d,f)=>n("i\
nput",{id:d,type:o,value:t,placeholder:i,required:c,step:u,spellcheck:!1,autocomplete:"off",class:l?"mono":"","aria-describedby":f,"aria-invalid":s?!0:void 0,onInput:m=>{
r(m.currentTarget.value)}})})}function Ot({label:e,value:t,set:r,hint:a,error:s,rows:o=5}){return n(_a,{label:e,hint:a,error:s,children:(i,c)=>n("textarea",{id:i,
rows:o,value:t,class:"mono",spellcheck:!1,"aria-describedby":c,"aria-invalid":s?!0:void 0,onInput:l=>{r(l.currentTarget.value)}})})}function le({label:e,value:t,
set:r,options:a,hint:s}){let o=kt();return n("div",{class:"field",children:[n("label",{for:o,children:e}),n("select",{id:o,value:t,onChange:i=>{r(i.currentTarget.
value)},children:a.map(([i,c])=>n("option",{value:i,selected:i===t,children:c},i))}),s&&n("p",{class:"hint",children:s})]})}function Pe({of:e}){return n("dl",{class:"\
facts",children:e.filter(([,t])=>t!==void 0&&t!==""&&t!==null).map(([t,r])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:r})]},t))})}function oe({caption:e,
head:t,children:r,stack:a}){return n("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:n("table",{class:a?"stack":"",children:[n("captio\
n",{class:"sr",children:e}),n("thead",{children:n("tr",{children:t.map((s,o)=>n("th",{scope:"col",children:s},o))})}),n("tbody",{children:r})]})})}function lt({
value:e,label:t}){return n($t,{text:typeof e=="string"?e:JSON.stringify(e,null,2),label:t})}function un({of:e}){return e&&n("div",{class:"callout",children:["Pa\
used",e.by&&` by ${e.by}`," ",n(D,{at:e.at}),e.note&&`: ${e.note}`]})}function ba({bars:e,label:t,every:r}){let a=mo(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.
max(1,e.length),o=i=>100*(1-i/a);return n(w,{children:[n("div",{class:"chart",role:"img","aria-label":t,children:[n("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"\
none","aria-hidden":"true",children:[[0,a/2,a].map(i=>n("line",{x1:"0",x2:"1000",y1:o(i),y2:o(i)},i)),e.map((i,c)=>i.value>0&&n("rect",{x:c*s+s*.08,width:s*.84,
y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:n("title",{children:i.title})},c))]}),[0,a/2,a].map(i=>n("span",{class:"y","aria-hidden":"t\
rue",style:{top:`${o(i)}%`},children:ln(i)},i)),e.map((i,c)=>c%r===0&&n("span",{class:"x","aria-hidden":"true",style:{left:`${c*s/10}%`},children:i.label},c))]}),
n("details",{class:"as-table",children:[n("summary",{children:"As a table"}),n(oe,{caption:t,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>n("tr",
{children:[n("td",{children:i.label}),n("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}function mo(e){let t=10**Math.floor(Math.log10(e));for(let r of[
1,1.2,1.6,2,3,4,5,6,8,10])if(r*t>=e)return Math.max(2,r*t);return e}function ln(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(
+e.toFixed(1))}function ho({values:e}){if(e.length<2)return n("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let t=Math.max(...e,1e-9),r=e.map(
(a,s)=>`${(s/(e.length-1)*100).toFixed(1)},${(22-a/t*20).toFixed(1)}`);return n("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidde\
n":"true",children:[n("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),n("polyline",{points:r.join(" "),class:"line"})]})}function X({label:e,value:t,
hint:r,kind:a="",spark:s,href:o}){let i=n(w,{children:[n("span",{class:"tile-label",children:e}),n("span",{class:"tile-value",children:t}),n("span",{class:"tile\
-hint",children:r}),s&&n(ho,{values:s})]});return o?n("a",{class:`tile ${a}`,href:o,children:i}):n("div",{class:`tile ${a}`,children:i})}function dt(){let e=q(!1);return Y(()=>()=>{e.current=!0},[]),e}function pe({title:e,children:t,verb:r,danger:a,path:s,body:o,done:i,close:c,after:l}){let[u,d]=h(),
[f,m]=h(!1),p=dt(),g=async()=>{let k=o();if(typeof k=="string"){d(new fe(0,"INCOMPLETE",k));return}m(!0);try{let{late:_}=await Be(s,k);if(be(_?`${i} An earlier \
delivery may have been sent.`:i,_?"warn":"ok"),p.current)return;c(),l()}catch(_){let b=ne(_);p.current&&be(`${e}: ${b.message}`,"warn"),d(b),m(!1)}};return n(Qe,
{title:e,close:c,children:n("form",{onSubmit:k=>{k.preventDefault(),g()},children:[t,u&&n(de,{error:u}),u&&/^(GENERATION|VERSION)_CONFLICT$/.test(u.code)&&n("p",
{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present state."}),n("div",{class:"dialog-foot",children:[n(S,{onClick:c,
children:"Cancel"}),n("button",{type:"submit",class:`button ${a?"danger":"primary"}`,disabled:f,children:f?"Sending\u2026":r})]})]})})}var va=250;function dn(e,t){
return async(r,a)=>{let s=0,o=0;for(let i;;){let{data:c}=await Be(e,{...t,dryRun:!0,limit:va,cursor:i},r);if(a(s+=c.applied),o+=c.skipped,i=c.nextCursor,!i)return{
n:s,more:!1,skipped:o}}}}async function Xe(e,t,r,a=()=>{}){let s=0,o=!1;for(let i of t){if(!e.correlationId){let l=await N("timers/count",{...e,status:i},r);s+=
l.count,o||=l.truncated;continue}let c;do{let l=await N("timers/list",{...e,status:i,limit:1e3,cursor:c},r);a(s+=l.timers.length),c=l.nextCursor}while(c)}return{
n:s,more:o}}function pt({action:e,close:t,after:r}){let[a,s]=h("ask"),[o,i]=h(),[c,l]=h(0),[u,d]=h({matched:0,applied:0,late:0,skipped:0,pages:0}),[f,m]=h(),p=q(
new AbortController),g=q(void 0),k=q(!1),_=dt();Y(()=>()=>{k.current=!0,p.current.abort()},[]);let b=async()=>{s("counting"),m(void 0),p.current=new AbortController;
try{i(await e.count(p.current.signal,l)),s("counted")}catch(P){if(p.current.signal.aborted)return;m(ne(P)),s("ask")}},v=async()=>{s("running"),m(void 0),k.current=
!1;let P=u;try{do{let{data:I}=await Be(e.path,{...e.filter,limit:va,cursor:g.current});g.current=I.nextCursor,P={matched:P.matched+I.matched,applied:P.applied+I.
applied,late:P.late+(I.late??0),skipped:P.skipped+I.skipped,pages:P.pages+1},d(P)}while(g.current&&!k.current);s(g.current?"cancelled":"ended"),_.current&&be(`${e.
title}: ${g.current?"stopped, ":""}${y(P)}.`,g.current?"warn":"ok")}catch(I){m(ne(I)),s("failed"),_.current&&be(`${e.title}: failed, ${y(P)}: ${ne(I).message}`,
"warn")}r()},x=o&&!o.more?o.n+(o.skipped??0):void 0,y=P=>`${ae(P.applied,"timer")} ${e.done}`+(P.late?` (an earlier delivery of ${R(P.late)} may have been sent)`:
"")+(P.skipped?`, ${R(P.skipped)} skipped`:"");return n(Qe,{title:e.title,close:t,children:[n("p",{children:e.describe}),a==="counting"&&n("p",{role:"status",children:[
"Counting\u2026 ",c>0&&R(c)]}),a==="counted"&&o&&n("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",ae(o.n,"timer")," would be ",e.
done,o.skipped?`, ${R(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),u.pages>0&&n("div",{class:"progress-wrap",children:[
(a==="running"||x!==void 0)&&n("progress",{max:x||1,value:x===void 0?void 0:o?.skipped===void 0?u.applied:u.matched,"aria-label":"Progress"}),n("p",{role:"statu\
s",children:[a==="running"?"Working: ":a==="ended"?"Finished: ":a==="cancelled"?"Cancelled: ":"Stopped: ",y(u),a==="cancelled"&&". The others were not changed."]})]}),
f&&n(de,{error:f}),n("div",{class:"dialog-foot",children:[a==="running"?n(S,{kind:"danger",onClick:()=>{k.current=!0},children:"Cancel"}):n(S,{onClick:t,children:"\
Close"}),(a==="ask"||a==="counted")&&n(S,{onClick:()=>{b()},children:"Dry run"}),(a==="ask"||a==="counted")&&n(S,{kind:e.danger?"danger":"primary",onClick:()=>{
v()},children:[e.verb," ",o?o.more?"all":R(o.n):"all"]}),(a==="cancelled"||a==="failed")&&n(S,{kind:"primary",onClick:()=>{v()},children:"Continue"})]})]})}function go(e){let t=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let a=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!a)continue;let s={};for(let[,o="",i=""]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[o]=i.replace(/\\(.)/g,(c,l)=>l==="n"?`
`:l);t.push({name:a[1].slice(9),labels:s,value:Number(a[3].replace("Inf","Infinity"))})}return t}var ft=class{at=performance.now();byName=new Map;constructor(t){
for(let r of go(t)){let a=this.byName.get(r.name);a?a.push(r):this.byName.set(r.name,[r])}}sum(t,r={}){let a=this.byName.get(t)?.filter(s=>Object.entries(r).every(
([o,i])=>s.labels[o]===i));return a?.length?a.reduce((s,o)=>s+o.value,0):void 0}by(t,r,a={}){let s=new Map;for(let o of this.byName.get(t)??[]){if(!Object.entries(
a).every(([c,l])=>o.labels[c]===l))continue;let i=o.labels[r]??"";s.set(i,(s.get(i)??0)+o.value)}return s}quantile(t,r,a,s={}){if(!a)return;let o=a.by(`${r}_buc\
ket`,"le",s),i=[...this.by(`${r}_bucket`,"le",s)].map(([f,m])=>[f==="+Inf"?1/0:Number(f),m-(o.get(f)??0)]).sort((f,m)=>f[0]-m[0]),c=i.at(-1)?.[1]??0;if(c<=0)return;
let l=t*c,u=0,d=0;for(let[f,m]of i){if(m>=l)return f===1/0?u:u+(f-u)*(m===d?1:(l-d)/(m-d));u=f,d=m}return u}},wa=6e4,mt=class{constructor(t){this.counter=t}counter;scrapes=[];add(t){
let r=t.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(a=>t.at-a.at<=2*wa&&(a.sum(this.counter)??0)<=r),this.scrapes.push(t);this.scrapes.length>2&&t.
at-this.scrapes[1].at>wa;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var et=e=>e.timerId!==void 0,mn=e=>et(e)&&(e.type==="dead"||e.type==="purged"),Xn=new Set;function Ta(e){return Xn.add(e),()=>{Xn.delete(e)}}function fn(e){for(let t of Xn)
t(e)}var De=W("no"),yo=250,ka=1e3,xa=6e4,_o=45e3,bo=1e4,pn={namespace:"",id:""};async function*vo(e){let t=e.getReader(),r=new TextDecoder,a=()=>{t.cancel().catch(
()=>{})},s="",o={name:"",data:"",id:""},i=0;try{for(;;){i=window.setTimeout(a,_o);let{done:c,value:l}=await t.read();if(clearTimeout(i),c)return;let u=(s+r.decode(
l,{stream:!0})).split(`
`);s=u.pop()??"";for(let d of u)d===""?(yield o,o={name:"",data:"",id:""}):d.startsWith("event: ")?o.name=d.slice(7):d.startsWith("data: ")?o.data=d.slice(6):d.
startsWith("id: ")&&(o.id=d.slice(4))}}finally{clearTimeout(i),a()}}async function wo(e,t){let r=pn.namespace===e&&pn.id!=="",a=new AbortController,s=setTimeout(
()=>{a.abort()},bo),o=await Xt("events/stream",{namespace:e},AbortSignal.any([t,a.signal]),r?{"Last-Event-ID":pn.id}:{}).finally(()=>{clearTimeout(s)});if(o.body)
for await(let{name:i,data:c,id:l}of vo(o.body)){if(t.aborted)return;l&&(pn={namespace:e,id:l}),i==="open"?(De.value=JSON.parse(c).complete?"all":"some",r||fn()):
i==="reset"?fn():i==="change"&&fn(JSON.parse(c))}}async function ko(e,t){await Sa(yo,t);for(let r=0;!t.aborted;){let a=ka;try{await wo(e,t),r=0}catch(s){if(t.aborted)
return;let o=ne(s);if(r=De.value==="no"?r+1:0,a=Math.max(o.retryAfter,Math.min(xa,ka*2**r)),o.status===403||o.status===404)a=xa;else if(o.status>=400&&o.status<
500&&o.status!==429)return}if(t.aborted)return;xo(),await Sa(a*(1+Math.random()),t)}}function Sa(e,t){return new Promise(r=>{let a=setTimeout(r,e);t.addEventListener(
"abort",()=>{clearTimeout(a),r()},{once:!0})})}function xo(){De.value!=="no"&&(De.value="no",fn())}var Ca=W(!document.hidden);document.addEventListener("visibil\
itychange",()=>{Ca.value=!document.hidden});ge(()=>{let e=T.value;if(Se.value!=="on"||!Ca.value||Ue.value!==null||!xe.value||!ie("read",e))return;let t=new AbortController;
return ko(e,t.signal),()=>{t.abort(),De.value="no"}});var So=6e4,To=2e4,Co=3e3,Ao=100;function B(e,t,r,a=!1,s){let[o,i]=h({key:""}),[c,l]=h(0),u=q(r);u.current=r;let d=q(s);d.current=s,qt(()=>{if(e==="")return;let m=new AbortController,
p=0,g=0,k=!1,_=0,b=0,v=!1,x=()=>{clearTimeout(p),Se.value==="on"&&(p=window.setTimeout(()=>{y()},Math.max(0,_-performance.now())))},y=async()=>{if(k||m.signal.aborted||
document.hidden&&p!==0)return;k=!0,v=!1;let ce=0,V=performance.now();try{let H=await u.current(m.signal);if(m.signal.aborted)return;g=0,i({key:e,data:H})}catch(H){
if(m.signal.aborted)return;g++;let U=ne(H);if(ce=Math.max(U.retryAfter,Math.min(So,t*2**g)),i(F=>F.key===e&&F.data!==void 0?{key:e,data:F.data,error:U}:{key:e,error:U}),
U.status>=400&&U.status<500&&U.status!==429)return}finally{k=!1;let H=a?Ao*(performance.now()-V):0,U=d.current&&De.value==="all"&&ce===0?Math.max(t,To):t;b=performance.
now()+Math.max(H,Math.min(t,Co),ce),_=v?b:performance.now()+Math.max(H,U,ce)}x()},P=()=>{document.hidden||k||(a||(_=0),x())},I=ce=>{!d.current||ce&&!d.current(ce)||
(v=!0,!(k||document.hidden)&&(_=Math.min(_,b),x()))};document.addEventListener("visibilitychange",P);let we=Ta(I);y();let ee=Se.subscribe(P);return()=>{m.abort(),
clearTimeout(p),ee(),we(),document.removeEventListener("visibilitychange",P)}},[e,t,c]);let f=o.key===e?o:{key:e};return{data:f.data,error:f.error,loading:e!==""&&
f.data===void 0&&f.error===void 0,again:()=>{l(m=>m+1)}}}var Aa=60;function Ro(){let e=q(new mt("dispatcher_fires_total")),t=q({fires:[],lateness:[]}),r=ct("read"),a=B(r?"metrics":"",3e3,async u=>{let d=new ft(await en(
u)),f=e.current.add(d),m=d.sum("dispatcher_fires_total"),p=d.sum("timers_pending"),g=f&&m!==void 0?1e3*Math.max(0,m-(f.sum("dispatcher_fires_total")??0))/(d.at-
f.at):void 0,k=b=>d.quantile(b,"dispatcher_lateness_seconds",f),_={lateness50:k(.5),lateness99:k(.99),fires:g,pending:p,overdue:d.sum("timers_overdue"),dead:d.sum(
"timers_dead"),held:p===void 0?void 0:(d.sum("timers_paused")??0)+(d.sum("timers_parked")??0),oldest:d.sum("timers_oldest_overdue_seconds"),whole:p!==void 0,local:m!==
void 0};return g!==void 0&&(t.current.fires=[...t.current.fires,g].slice(-Aa)),_.lateness99!==void 0&&(t.current.lateness=[...t.current.lateness,_.lateness99].slice(
-Aa)),_}),s=!r||a.data?.whole===!1,o=B(s?`counts/${T.value}`:"",3e4,Po,!0),i=r?a:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},c=i.data&&{...i.data,...o.data},
l=()=>{a.again(),o.again()};return{poll:{...i,data:c,error:i.error??o.error,again:l},series:t.current,everywhere:r}}async function Po(e){let t=!1,r=T.value,a=async(u,d)=>{
let{n:f,more:m}=await Xe({namespace:r,dueBefore:d},u,e);return t||=m,f},s=new Date(Pt()).toISOString(),[o,i,c,l]=await Promise.all([a(["scheduled","retrying"]),
a(["scheduled","retrying"],s),a(["dead"]),a(["paused","parked"])]);return{pending:o,overdue:i,dead:c,held:l,least:t}}var hn=(e,t)=>t===void 0?"\u2013":n(w,{children:[
e.least&&n("small",{children:"at least "}),ln(t)]});function Eo({of:e}){let t=e.reasons??[],r=e.degraded??[],a=t.length?"dead":r.length?"retrying":"done";return n(
"div",{class:`health ${a}`,role:"status",children:[n(se,{kind:a,children:t.length?"not ready":r.length?"degraded":"healthy"}),t.length===0&&r.length===0&&n("spa\
n",{children:"Requests are served, and all parts work."}),n("ul",{children:[t.map(s=>n("li",{children:s},s)),r.map(s=>n("li",{children:[n("strong",{children:s.part}),
": ",s.reason,", ",n(D,{at:s.since})]},s.part))]})]})}var er=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",168,240]];function $o(){let[e,t]=h("24\
h"),[,r,a,s]=er.find(([c])=>c===e)??er[0],o=B(`forecast/${T.value}/${e}`,6e4,c=>{let l=s*6e4,u=Math.floor(Pt()/l)*l;return N("timers/forecast",{namespace:T.value,
from:new Date(u).toISOString(),to:new Date(u+a*36e5).toISOString(),bucket:`${s}m`},c)},!0),i=n("div",{class:"segments",role:"group","aria-label":"Range of the f\
orecast",children:er.map(([c,l])=>n("button",{type:"button","aria-pressed":e===c,onClick:()=>{t(c)},children:l},c))});return n(E,{title:"Forecast",aside:i,wide:!0,
children:n(j,{of:o,children:c=>{let l=Date.parse(c.from),u=c.counts.reduce((f,m)=>f+m,0),d=c.counts.map((f,m)=>{let p=l+m*s*6e4;return{label:a>24?me(p).slice(5,
16):ha(p),value:f,title:`${me(p)}: ${ae(f,"timer")}`}});return n(w,{children:[n("p",{class:"muted",children:[ae(u,"timer")," of ",T.value," due in the next ",r,
c.truncated&&`, counted until ${me(c.completeBefore)}`]}),u===0?n(M,{title:"Nothing is due in this time.",command:`timerbus timer create hello --in 1h -n ${T.value}`,
children:"Create a timer:"}):n(ba,{bars:d,every:Math.ceil(d.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}, for each ${s} minutes: ${u} in all`})]})}})})}
function gn(e){return e.callbackUrl?on(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Oo(){let e=B(`next/${T.value}`,3e3,t=>N("timers/list",{namespace:T.
value,order:"due",limit:8},t),!1,et);return n(E,{title:"Due next",aside:n("a",{href:A(["timers"]),children:"All timers"}),flush:!0,children:n(j,{of:e,children:({
timers:t})=>t.length===0?n(M,{title:"No timer waits.",command:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${T.value}`,children:"\
Create one, here or with the CLI:"}):n(oe,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:t.map(r=>n("tr",{children:[n("td",
{children:n(D,{at:r.dueAt,only:"relative"})}),n("td",{class:"id",children:n("a",{href:A(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:gn(r)}),
n("td",{children:n(Ne,{status:r.status})})]},r.uuid))})})})}function No(){let e=B(`failed/${T.value}`,1e4,t=>N("timers/list",{namespace:T.value,status:"dead",limit:8},
t),!1,mn);return n(E,{title:"Dead letters",aside:n("a",{href:A(["dead"]),children:"By reason"}),flush:!0,children:n(j,{of:e,children:({timers:t})=>t.length===0?
n(M,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):n(oe,{caption:"Some dead timers",head:["Timer","Target","Error"],children:t.
map(r=>n("tr",{children:[n("td",{class:"id",children:n("a",{href:A(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:gn(r)}),n("td",{class:"clip",
title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function Ra(){let e=B("health",5e3,ia),{poll:t,series:r,everywhere:a}=Ro(),s=t.data,o=s&&
!s.whole?`namespace ${T.value}`:"cluster";return n(z,{title:"Overview",children:[n(j,{of:e.error?{...e,data:void 0}:e,children:i=>n(Eo,{of:i})}),n(j,{of:t,children:i=>n(
w,{children:[n("div",{class:"tiles",children:[n(X,{label:"Lateness p50",value:Ye(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==void 0&&i.lateness50>
5?"warn":""}),n(X,{label:"Lateness p99",value:Ye(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.lateness}),n(X,{
label:"Fires",value:i.fires===void 0?"\u2013":`${ln(i.fires)}/s`,hint:"last minute",spark:r.fires}),n(X,{label:"Pending",value:hn(i,i.pending),hint:(i.pending??
0)<1e3?"scheduled, retrying":R(i.pending??0),href:A(["timers"])}),n(X,{label:"Backlog",value:hn(i,i.overdue),hint:i.oldest?`oldest ${Ye(i.oldest)}`:"overdue tim\
ers",kind:(i.oldest??0)>10?"warn":""}),n(X,{label:"Dead",value:hn(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:A(["dead"])}),
n(X,{label:"Paused, parked",value:hn(i,i.held),hint:o,href:A(["timers"],{status:"paused"})})]}),!i.local&&n("p",{class:"callout",children:a?n(w,{children:["This\
 process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",n("code",{children:"/metrics"}),"; the Grafana dashboard shows all pr\
ocesses."]}):n(w,{children:"Lateness and fires need the right to read all namespaces."})})]})}),n("div",{class:"grid",children:[n($o,{}),n(Oo,{}),n(No,{})]})]})}var Do=50,Lo=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];function tr({timers:e,caption:t}){return n(oe,{caption:t,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(
r=>n("tr",{children:[n("td",{class:"id","data-label":"Timer",children:n("a",{href:A(["timers",r.id]),children:r.id})}),n("td",{"data-label":"Status",children:n(
Ne,{status:r.status})}),n("td",{"data-label":"Due",children:n(D,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),n("td",{class:"clip","data-labe\
l":"Target",title:r.callbackUrl??r.topic,children:gn(r)}),n("td",{class:"num","data-label":"Attempts",children:r.attempts}),n("td",{class:"clip","data-label":"L\
ast error",title:r.lastError,children:r.lastError??n("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function Pa(){let e=re.value.query,t=e.
get("status")??"",r=e.get("correlationId")??"",a=e.get("dueFrom")??"",s=e.get("dueBefore")??"",o=e.get("cursor")??"",i=(t===""||t==="scheduled"||t==="retrying")&&
!r,c={namespace:T.value,status:t||void 0,correlationId:r||void 0,dueFrom:a||void 0,dueBefore:s||void 0},l={...c,order:i?"due":"key",limit:Do,cursor:o||void 0};return{
q:e,status:t,correlationId:r,dueFrom:a,dueBefore:s,cursor:o,ordered:i,filter:c,request:l}}var Ea=()=>Pa().request;function $a(){let{q:e,status:t,correlationId:r,
dueFrom:a,dueBefore:s,cursor:o,ordered:i,filter:c,request:l}=Pa(),[u,d]=h(""),[f,m]=h(null),p=B(JSON.stringify(l),o?1e4:3e3,y=>N("timers/list",l,y),!1,et),g=q(!1);
g.current||=!p.loading;let k=B(r||!g.current?"":JSON.stringify(c),3e4,y=>Xe(c,[c.status],y),!0),_=ie("write",T.value),b=y=>{let P={pause:["Pause timers","Pause",
"paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:["Retry timers","Retry","started again"],purge:["Delete \
from history","Delete","removed from history"]},[I,we,ee]=P[y],{status:ce,...V}=c,H=y==="resume"?V:c,U=`timers/${y}-matching`,F=y==="resume"?["paused"]:y==="pau\
se"&&!t?["scheduled","retrying"]:[c.status];m({title:I,verb:we,done:ee,path:U,filter:H,danger:y==="delete"||y==="purge",describe:n(w,{children:["All timers of ",
n("strong",{children:T.value})," that this page\u2019s filter selects, not only those of the shown page."]}),count:y==="retry"||y==="purge"?dn(U,H):(Ae,Je)=>Xe(
c,F,Ae,Je)})},v=!!(t||r||a||s),x=_&&n(w,{children:[(t===""||t==="scheduled"||t==="retrying")&&n(S,{onClick:()=>{b("pause")},children:"Pause all\u2026"}),(t===""||
t==="paused")&&n(S,{onClick:()=>{b("resume")},children:"Resume all\u2026"}),(t==="dead"||t==="parked")&&n(S,{onClick:()=>{b("retry")},children:"Retry all\u2026"}),
(t==="dead"||t==="done")&&n(S,{onClick:()=>{b("purge")},children:"Delete all\u2026"}),t!=="dead"&&t!=="done"&&v&&n(S,{onClick:()=>{b("delete")},children:"Delete\
 all\u2026"}),n("a",{class:"button primary",href:A(["new","timer"]),children:"Create timer"})]});return n(z,{title:"Timers",actions:x,children:[n("form",{class:"\
filters",role:"search",onSubmit:y=>{y.preventDefault(),u.trim()&&ue(["timers",u.trim()])},children:[n("div",{class:"field",children:[n("label",{for:"open",children:"\
Open by id"}),n("div",{class:"joined",children:[n("input",{id:"open","data-search":!0,type:"search",value:u,placeholder:"order-1842",spellcheck:!1,onInput:y=>{d(
y.currentTarget.value)}}),n("button",{type:"submit",class:"button",children:"Open"})]})]}),n(le,{label:"Status",value:t,options:Lo,set:y=>{_e({status:y})}}),n(tt,
{label:"Correlation id",value:r,set:y=>{_e({correlationId:y})}}),n(tt,{label:`Due from (${Re()})`,type:"datetime-local",value:je(a),set:y=>{_e({dueFrom:he(y)})}}),
n(tt,{label:"Due before",type:"datetime-local",value:je(s),set:y=>{_e({dueBefore:he(y)})}}),(v||o)&&n(S,{kind:"ghost",onClick:()=>{ue(["timers"])},children:"Cle\
ar"})]}),n(E,{flush:!0,wide:!0,children:n(j,{of:p,children:y=>n(w,{children:[y.timers.length===0?n(M,{title:v||o?"No timer matches.":"There are no timers in thi\
s namespace.",command:v||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${T.value}`,children:v||o?y.nextCursor?"This pag\
e is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):n(tr,{timers:y.timers,caption:"Timers"}),
n("div",{class:"pager",children:[n("span",{class:"muted",role:"status",children:[k.data&&`${k.data.more?"at least ":""}${R(k.data.n)} in all`,k.error&&`counting\
 failed: ${k.error.message}`,i?"the next due first":"in a fixed order"].filter(Boolean).join(", ")}),n("span",{class:"pager-buttons",children:[o&&n("a",{class:"\
button",href:A(["timers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),y.nextCursor&&n("a",{class:"button",href:A(["timers"],{...Object.fromEntries(
e),cursor:y.nextCursor}),children:"Next page"})]})]})]})})}),f&&n(pt,{action:f,close:()=>{m(null)},after:()=>{p.again(),k.again()}})]})}function tt({label:e,value:t,
set:r,type:a}){let[s,o]=h(t),[i,c]=h(t);i!==t&&(c(t),o(t));let l=()=>{s!==t&&r(s)};return n("div",{onFocusOut:l,onKeyDown:u=>{u.key==="Enter"&&(u.preventDefault(),
l())},children:n($,{label:e,value:s,set:o,type:a,step:a?"1":void 0})})}var Io=5e3,Uo=10,Bo=500,Mo=20,Nt=100;function Ho(e,t){for(let r of t){let a=r.callbackUrl?on(r.callbackUrl):"",s=r.lastError??"",o=`${a}\0${s}`,i=r.status==="de\
ad"?r.executeAt:r.dueAt,c=e.groups.get(o);c||(c={host:a,error:s,status:r.lastStatusCode,timers:[],count:0,attempts:0,oldest:i,newest:i},e.groups.set(o,c)),c.count++,
c.attempts=Math.max(c.attempts,r.attempts),c.timers.length<Mo&&c.timers.push(r),i<c.oldest&&(c.oldest=i),i>c.newest&&(c.newest=i)}e.read+=t.length}var nr=e=>e.host||
"no URL";async function Oa(e,t,r,a){let s=e?{...e,groups:new Map([...e.groups].map(([c,l])=>[c,{...l,timers:[...l.timers]}]))}:{groups:new Map,read:0,cursor:void 0},
o=s.read+Io,i=0;do{let c=await N("timers/list",{...t,limit:Bo,cursor:s.cursor},r);Ho(s,c.timers),s.cursor=c.nextCursor,r.aborted||a({...s})}while(s.cursor&&s.read<
o&&++i<Uo);return s}function jo({of:e,caption:t}){let[r,a]=h(e.timers);return Y(()=>{let s=new AbortController,o=i=>N("timers/get",{namespace:i.namespace,id:i.id},
s.signal).then(c=>i.status!=="dead"?c:c.generation===i.generation?i:{...i,status:c.status},()=>i);return Promise.all(e.timers.map(o)).then(i=>{s.signal.aborted||
a(i)}),()=>{s.abort()}},[e.timers.map(s=>[s.uuid,s.generation,s.attempts]).join()]),n(tr,{timers:r,caption:`${t} of ${nr(e)}`})}function Na(e,t){let r=JSON.stringify(
e),[a,s]=h(),[o,i]=h(),c=o?.key===r?o:void 0,[l,u]=h(0),d=B(c?"":r,1e4,_=>Oa(void 0,e,_,b=>{d.data||s({key:r,read:b})}),!0,t),f=c?.read??d.data??(a?.key===r?a.read:
void 0),m=q(new AbortController);Y(()=>()=>{m.current.abort()},[r]);let p=async _=>{m.current=new AbortController;let{signal:b}=m.current,v=_;i({key:r,read:v,busy:!0});
try{v=await Oa(_,e,b,x=>{v=x,i({key:r,read:v,busy:!0})}),b.aborted||i({key:r,read:v,busy:!1})}catch(x){b.aborted||i({key:r,read:v,busy:!1,error:ne(x)})}},g=()=>{
m.current.abort(),i(void 0),u(_=>_+1),d.again()},k=f?[...f.groups].sort(([,_],[,b])=>b.count-_.count):[];return{state:f,groups:k,reading:c?.busy??d.loading,error:c?
c.error:d.error,readMore:p,again:g,turn:l}}function Da({of:e,kind:t,caption:r,times:a,most:s,actions:o}){let{state:i,groups:c,reading:l,readMore:u,turn:d}=e,[f,
m]=h();return i&&n(w,{children:[n("div",{class:"groups",children:c.slice(0,s).map(([p,g])=>n("section",{class:`card group ${t}`,"aria-label":`${r}, ${nr(g)}: ${g.
error}`,children:[n("div",{class:"group-head",children:[n("span",{class:"group-count",children:R(g.count)}),n("div",{class:"group-text",children:[n("div",{children:[
n("strong",{children:nr(g)})," ",g.status?n(se,{kind:t,children:["HTTP ",g.status]}):null]}),n("div",{class:"reason",children:g.error||"no reason"}),n("div",{class:"\
muted",children:[a," ",me(g.oldest),g.newest!==g.oldest&&` to ${me(g.newest)}`,t==="retrying"&&`, after ${g.attempts===1?"1 attempt":`up to ${g.attempts} attemp\
ts`}`]})]}),n("div",{class:"actions",children:[o?.(g),n(S,{kind:"small ghost","aria-expanded":f===p,onClick:()=>{m(f===p?void 0:p)},children:[f===p?"Hide":"Show",
" timers"]})]})]}),f===p&&n(jo,{of:g,caption:r},d),f===p&&g.count>g.timers.length&&n("p",{class:"muted pad",children:["The first ",g.timers.length," of ",R(g.count),
"."]})]},p))}),i.cursor&&n("p",{children:n(S,{disabled:l,onClick:()=>{u(i)},children:l?"Reading\u2026":"Read more"})})]})}function Fo({filter:e}){let t=Na({...e,
status:"retrying"},et),[r,a]=h(!1),{state:s,groups:o,reading:i,error:c,again:l}=t,u=r?Nt:5;return!c&&(!s||s.read===0&&!s.cursor)?null:n("section",{"aria-labelle\
dby":"retrying",class:"part",children:[n("div",{class:"part-head",children:[n("h2",{id:"retrying",children:"Retrying"}),n("a",{href:A(["timers"],{...e,namespace:void 0,
status:"retrying"}),children:"As a list"})]}),c&&n(de,{error:c,again:l}),s&&n("p",{class:"muted",role:"status",children:[ae(s.read,"timer")," failed and will be\
 tried again",s.cursor&&(i?", and more":", and maybe more"),". They are not dead.",(e.dueFrom||e.dueBefore)&&" The filter by time selects the next attempt."]}),
n(Da,{of:t,kind:"retrying",caption:"Retrying timers",times:"next attempt",most:u}),o.length>u&&(r?n("p",{class:"muted",children:["The ",Nt," largest groups."]}):
n("p",{children:n(S,{kind:"small",onClick:()=>{a(!0)},children:["Show all ",R(o.length)," groups"]})}))]})}function La(){let e=re.value.query,t=e.get("correlati\
onId")??"",r=e.get("dueFrom")??"",a=e.get("dueBefore")??"",s=T.value,o={namespace:s,correlationId:t||void 0,dueFrom:r||void 0,dueBefore:a||void 0},i={...o,status:"\
dead"},c=Na(i,mn),{state:l,groups:u,reading:d,error:f,again:m}=c,[p,g]=h(null),k=(x,y)=>{let P=y?{...i,callbackHost:y.host,lastError:y.error}:i,I=`timers/${x}-m\
atching`;g({title:x==="retry"?"Retry dead timers":"Delete dead timers",verb:x==="retry"?"Retry":"Delete",done:x==="retry"?"started again":"removed from history",
path:I,filter:P,danger:x==="purge",describe:y?n(w,{children:["All dead timers of ",n("strong",{children:s})," that ",y.host?n(w,{children:["call ",n("strong",{children:y.
host})]}):"have no URL"," and failed with ",n("q",{children:y.error}),"."]}):n(w,{children:["All dead timers of ",n("strong",{children:s})," that this page\u2019s fi\
lter selects, also those that were not read yet."]}),count:dn(I,P)})},_=ie("write",s),b=!!(t||r||a),v=_&&u.length>0&&n(w,{children:[n(S,{kind:"primary",onClick:()=>{
k("retry")},children:"Retry all\u2026"}),n(S,{kind:"danger-ghost",onClick:()=>{k("purge")},children:"Delete all\u2026"})]});return n(z,{title:"Dead letters",actions:v,
children:[n("form",{class:"filters",role:"search",onSubmit:x=>{x.preventDefault()},children:[n(tt,{label:"Correlation id",value:t,set:x=>{_e({correlationId:x})}}),
n(tt,{label:`Planned from (${Re()})`,type:"datetime-local",value:je(r),set:x=>{_e({dueFrom:he(x)})}}),n(tt,{label:"Planned before",type:"datetime-local",value:je(
a),set:x=>{_e({dueBefore:he(x)})}}),b&&n(S,{kind:"ghost",onClick:()=>{ue(["dead"])},children:"Clear"})]}),n(Fo,{filter:o}),f&&n(de,{error:f,again:m}),!l&&d&&n("\
div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})}),l&&u.length===0&&!d&&n(E,{children:n(M,{title:b?"No dead timer matches\
.":"No timer is dead.",children:b?"Change the filter, or clear it.":"Timers whose retry policy has ended appear here, with their payload, for the dead retention\
 of the namespace."})}),l&&u.length>0&&n("section",{"aria-labelledby":"dead",class:"part",children:[n("div",{class:"part-head",children:n("h2",{id:"dead",children:"\
Dead"})}),n("p",{class:"muted",role:"status",children:[ae(l.read,"dead timer")," in ",ae(u.length,"group"),", by host and reason",l.cursor&&", and more",". A ti\
mer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),n(Da,{of:c,kind:"dead",caption:"Dead time\
rs",times:"planned",most:Nt,actions:x=>_&&x.error&&n(w,{children:[n(S,{kind:"small",onClick:()=>{k("retry",x)},children:"Retry\u2026"}),n(S,{kind:"small danger-\
ghost",onClick:()=>{k("purge",x)},children:"Delete\u2026"})]})}),u.length>Nt&&n("p",{class:"muted",children:["The ",Nt," largest groups."]})]}),p&&n(pt,{action:p,
close:()=>{g(null)},after:m})]})}function Ia(e){return e.cron?e.cron:e.every?`every ${Q(e.every)}`:e.rrule?e.rrule:ae(e.dates?.length??0,"date")}function Jo({payload:e,request:t,headers:r,...a}){
return ye.hidePayloads?a:{...a,payload:e,request:t,headers:r}}function Ua(){let e=re.value.query.get("status")??"",t=re.value.query.get("cursor")??"",r=T.value,
a=B(`${r}/${e}/${t}`,5e3,s=>N("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:t||void 0},s),!1,s=>s.scheduleId!==void 0);return n(z,{title:"Sched\
ules",actions:ie("write",r)&&n("a",{class:"button primary",href:A(["new","schedule"]),children:"Create schedule"}),children:[n("form",{class:"filters",role:"sea\
rch",onSubmit:s=>{s.preventDefault()},children:n(le,{label:"Status",value:e,set:s=>{_e({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],
["parked","Parked"]]})}),n(E,{flush:!0,wide:!0,children:n(j,{of:a,children:s=>n(w,{children:[s.schedules.length===0?n(M,{title:e?`No schedule is ${e}.`:"There a\
re no schedules in this namespace.",command:e?void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&
"A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}):n(oe,{caption:"Schedules",head:["Schedule","Status","Occurs",
"Time zone","Next","Created"],stack:!0,children:s.schedules.map(o=>n("tr",{children:[n("td",{class:"id","data-label":"Schedule",children:n("a",{href:A(["schedul\
es",o.id]),children:o.id})}),n("td",{"data-label":"Status",children:n(Ne,{status:o.status})}),n("td",{class:"clip","data-label":"Occurs",children:n("code",{children:o.
specs.map(Ia).join("; ")})}),n("td",{"data-label":"Time zone",children:o.timeZone}),n("td",{"data-label":"Next",children:n(D,{at:o.nextAt})}),n("td",{class:"num",
"data-label":"Created",children:o.created})]},o.id))}),(s.nextCursor||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:A(["schedules"],{status:e}),children:"First page"}),s.nextCursor&&n("a",{class:"button",href:A(["schedules"],{status:e,cursor:s.nextCursor}),
children:"Next page"})]})]})]})})})]})}var qo={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is t\
he first of the two.",second:"The clocks repeat its local time; this is the second of the two."};function rr({of:e,timeZone:t}){return e.length===0?n(M,{title:"\
There are no further occurrences."}):n(oe,{caption:"Next occurrences",head:[`Local time (${t})`,"Instant","Remark"],stack:!0,children:e.map(r=>n("tr",{children:[
n("td",{"data-label":"Local time",children:r.local.replace("T"," ")}),n("td",{"data-label":"Instant",children:n(D,{at:r.at})}),n("td",{"data-label":"Remark",children:r.
remark?n(w,{children:[n(se,{kind:"retrying",children:"DST"})," ",qo[r.remark]]}):n("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Ba({id:e}){let t=T.
value,r=f=>f.scheduleId===e,a=B(`schedule/${t}/${e}`,3e3,f=>N("schedules/get",{namespace:t,id:e},f),!1,r),s=a.data,o=B(`preview/${t}/${e}/${s?.version??0}`,3e4,
f=>N("schedules/preview",{namespace:t,id:e,limit:10},f)),i=B(`decisions/${t}/${e}`,5e3,f=>N("schedules/history",{namespace:t,id:e,limit:50},f),!1,r),[c,l]=h(null);
Y(()=>(Oe.value=s?.timeZone??null,()=>{Oe.value=null}),[s?.timeZone]);let u=()=>{a.again(),i.again(),o.again()},d=s&&ie("write",t)&&s.status!=="ended"&&n(w,{children:[
n(S,{kind:"primary",onClick:()=>{l("trigger")},children:"Trigger\u2026"}),s.status==="active"?n(S,{onClick:()=>{l("pause")},children:"Pause\u2026"}):n(S,{onClick:()=>{
l("resume")},children:"Resume\u2026"}),n(S,{onClick:()=>{l("backfill")},children:"Backfill\u2026"}),n(S,{kind:"danger-ghost",onClick:()=>{l("delete")},children:"\
Delete\u2026"})]});return n(z,{title:e,crumb:n(w,{children:[n("a",{href:A(["schedules"]),children:"Schedules"})," / ",t]}),actions:d,children:[n(j,{of:a,children:f=>n(
"div",{class:"grid",children:[n(Wo,{of:f}),n(E,{title:"Timer of an occurrence",children:[n(lt,{value:Jo(f.timer),label:"Template"}),ye.hidePayloads&&n("p",{class:"\
hint",children:"Its payload, body and headers are hidden by the settings of the server."})]}),n(E,{title:"Next occurrences",wide:!0,flush:!0,aside:o.data&&n("sp\
an",{class:"muted",children:["time zones ",o.data.zoneVersion]}),children:[f.status==="paused"&&n("p",{class:"callout",children:"The schedule is paused: these o\
ccurrences are not created until it is resumed."}),n(j,{of:o,children:m=>n(rr,{of:m.occurrences,timeZone:m.timeZone})})]}),n(E,{title:"Decisions",wide:!0,flush:!0,
children:n(j,{of:i,children:({decisions:m})=>m.length===0?n(M,{title:"No occurrence was due yet."}):n(oe,{caption:"Decisions about occurrences",head:["Occurrenc\
e","Decision","Reason","Timer"],stack:!0,children:m.map(p=>n("tr",{children:[n("td",{"data-label":"Occurrence",children:n(D,{at:p.at})}),n("td",{"data-label":"D\
ecision",children:n(se,{kind:p.decision==="created"?"done":p.decision==="skipped"?"retrying":"paused",children:p.decision})}),n("td",{"data-label":"Reason",children:p.
reason??n("span",{class:"muted",children:"\u2013"})}),n("td",{class:"id","data-label":"Timer",children:p.timerId?n("a",{href:A(["timers",p.timerId]),children:p.
timerId}):n("span",{class:"muted",children:"\u2013"})})]},p.at+p.decidedAt+p.decision))})})})]})}),s&&c&&n(zo,{of:s,action:c,close:()=>{l(null)},after:u})]})}function Wo({
of:e}){return n(E,{title:"Definition",aside:n(Ne,{status:e.status}),children:[n(un,{of:e.pause}),n(Pe,{of:[["Occurs",e.specs.map((t,r)=>n("div",{children:n("cod\
e",{children:Ia(t)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&n(D,{at:e.nextAt})],["Created timers",e.created],["From",e.start&&n(D,{at:e.start})],["Unt\
il",e.end&&n(D,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.catchUp}, within ${Q(e.catchUpWindow)}`:e.catchUp],["Skip\
ped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Version",e.version],["Updated",n(D,{at:e.updatedAt})]]})]})}function zo({
of:e,action:t,close:r,after:a}){let[s]=h(e),[o,i]=h(""),[c,l]=h("keep"),u={namespace:s.namespace,id:s.id},d={close:r,after:a};switch(t){case"trigger":return n(pe,
{...d,title:`Trigger ${s.id}`,verb:"Trigger",path:"schedules/trigger",body:()=>u,done:`${s.id} has created an occurrence.`,children:n("p",{children:"Creates an \
occurrence now, in addition to the planned ones."})});case"pause":return n(pe,{...d,title:`Pause ${s.id}`,verb:"Pause",path:"schedules/pause",body:()=>({...u,note:o||
void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused schedule creates no occurrences."}),n($,{label:"Note",value:o,set:i})]});case"resume":return n(
pe,{...d,title:`Resume ${s.id}`,verb:"Resume",path:"schedules/resume",body:()=>u,done:`${s.id} is resumed.`,children:n("p",{children:"The schedule continues wit\
h its next occurrence."})});case"delete":return n(pe,{...d,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"schedules/delete",done:`${s.id} is deleted.`,after:()=>{
ue(["schedules"])},body:()=>({...u,pending:c,ifVersion:s.version}),children:n(le,{label:"Its timers that are not finished",value:c,set:l,options:[["keep","Keep \
them"],["delete","Delete them"]]})});default:return n(Ko,{of:s,...d})}}function Ko({of:e,close:t,after:r}){let[a,s]=h(""),[o,i]=h(""),[c,l]=h(),[u,d]=h(""),[f,m]=h(
!1),p=dt(),g=q(!1),k=async()=>{let _=he(o),b=he(a);if(!b||!_){l(new fe(0,"INCOMPLETE","Enter both times."));return}m(!0),l(void 0),g.current=!1;let v=0,x=0,y=()=>`${ae(
v,"occurrence")} created, ${x} existed`;try{do{let P=await N("schedules/backfill",{namespace:e.namespace,id:e.id,from:b,to:_});v+=P.created,x+=P.kept,b=P.nextFrom,
d(`${y()}${b?`, continuing at ${me(b)}`:""}.`)}while(b&&!g.current&&!p.current);b?be(`${e.id}: ${y()}. Stopped at ${me(b)}.`,"warn"):be(`${e.id}: ${y()}.`),!b&&
!p.current&&t()}catch(P){let I=ne(P);p.current&&be(`Backfill ${e.id}: failed, ${y()}: ${I.message}`,"warn"),l(I)}m(!1),r()};return n(Qe,{title:`Backfill ${e.id}`,
close:t,children:n("form",{onSubmit:_=>{_.preventDefault(),k()},children:[n("p",{children:"Creates the occurrences of a past time range that do not exist. They \
are delivered at once."}),n($,{label:`From (${Re()})`,type:"datetime-local",step:"1",value:a,set:s,required:!0}),n($,{label:"Before",type:"datetime-local",step:"\
1",value:o,set:i,required:!0,hint:"Not in the future."}),u&&n("p",{role:"status",class:"callout",children:u}),c&&n(de,{error:c}),n("div",{class:"dialog-foot",children:[
f?n(S,{kind:"danger",onClick:()=>{g.current=!0},children:"Stop"}):n(S,{onClick:t,children:"Close"}),n("button",{type:"submit",class:"button primary",disabled:f,
children:f?"Working\u2026":"Backfill"})]})]})})}function Ma(e,t){return`curl${$e.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${ua}/api/v1/${e} \\
  -d ${cn(JSON.stringify(t,null,2))}`}function Ha(e,t){let r=[...t,...T.value==="default"?[]:[["--namespace",T.value]]],a=e.at(-1)??"";return["timerbus "+(a.startsWith(
"-")?[...e.slice(0,-1),`--id=${a}`]:e).map(cn).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${cn(i)}`)].join(` \\
`)}function ar(e){return Object.fromEntries(Object.entries(e).filter(([t,r])=>r!==void 0&&(r!==""||t==="payload")))}function ja({curl:e,cli:t}){return n(E,{title:"\
The same request",children:[n("h3",{children:"curl"}),n($t,{text:e,label:"curl"}),n("h3",{children:"Command line"}),n($t,{text:t,label:"Command line"})]})}function Fa({
title:e,label:t,id:r,invalid:a,send:s,children:o}){let[i,c]=h(),[l,u]=h(!1),d=dt(),f=ie("write",T.value),m=async()=>{if(a){c(new fe(0,"INCOMPLETE",a));return}u(
!0),c(void 0);try{let p=await s();d.current||ue(p)}catch(p){let g=ne(p);d.current&&be(`${t} ${r}: ${g.message}`,"warn"),c(g)}u(!1)};return n(E,{title:e,children:n(
"form",{onSubmit:p=>{p.preventDefault(),m()},children:[o,i&&n(de,{error:i}),!f&&n("p",{class:"callout",children:["You have no right to write in ",T.value,"."]}),
n("button",{type:"submit",class:"button primary",disabled:l||!f,children:l?"Sending\u2026":t})]})})}var Ja=[["fail","Refuse (409)"],["replace","Replace it"],["k\
eep","Keep it"]];function qa({children:e}){return n("details",{class:"more",onInvalidCapture:t=>{t.currentTarget.open=!0},children:[n("summary",{children:"More \
settings"}),e]})}function Wa(){let[e,t]=h(""),[r,a]=h("in"),[s,o]=h("15m"),[i,c]=h(""),[l,u]=h(""),[d,f]=h(Gn),[m,p]=h("http://127.0.0.1:9000/"),[g,k]=h('{"orde\
r": 1842}'),[_,b]=h(""),[v,x]=h(""),[y,P]=h(""),[I,we]=h(""),[ee,ce]=h("fail"),V=At(g),H=ar({namespace:T.value,id:e,executeIn:r==="in"?s:void 0,executeAt:r==="a\
t"?he(i):void 0,executeAtLocal:r==="local"?l.length===16?l+":00":l:void 0,timeZone:r==="local"?d:void 0,callbackUrl:m,payload:V.value,retryPolicy:_?{maxAttempts:Number(
_)}:void 0,callbackTimeout:v,correlationId:y,flowKey:I,onConflict:ee}),U=[["--in",r==="in"?s:""],["--at",r==="at"?he(i)??"":""],["--at-local",String(H.executeAtLocal??
"")],["--time-zone",String(H.timeZone??"")],["--callback-url",m],["--payload",V.value===void 0?"":JSON.stringify(V.value)],["--max-attempts",_],["--callback-tim\
eout",v],["--correlation-id",y],["--flow-key",I],["--on-conflict",ee]],F=async()=>{let{data:Ae,late:Je}=await Be("timers/create",H);return be(Je?`${Ae.id} is re\
placed. An earlier delivery may have been sent.`:`${Ae.id} is created.`,Je?"warn":"ok"),["timers",Ae.id]};return n(z,{title:"Create timer",crumb:n(w,{children:[
n("a",{href:A(["timers"]),children:"Timers"})," / ",T.value]}),actions:n("a",{class:"button",href:A(["new","schedule"]),children:"Schedule instead"}),children:n(
"div",{class:"grid",children:[n(Fa,{title:"Timer",label:"Create timer",id:e,invalid:V.error,send:F,children:[n($,{label:"Id",value:e,set:t,required:!0,placeholder:"\
order-1842",mono:!0,hint:"Unique in the namespace."}),n(le,{label:"When",value:r,set:a,options:[["in","After a duration"],["at","At an instant"],["local","At a \
local time"]]}),r==="in"&&n($,{label:"Duration",value:s,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&n($,{label:`Time (${Re()})`,type:"datetime-\
local",step:"1",value:i,set:c,required:!0}),r==="local"&&n(w,{children:[n($,{label:"Local time",type:"datetime-local",step:"1",value:l,set:u,required:!0}),n($,{
label:"Time zone",value:d,set:f,hint:"If the rules of the zone change, the timer moves with them."})]}),n($,{label:"Callback URL",value:m,set:p,mono:!0,hint:"Em\
pty: an event on timerbus.fired."}),n(Ot,{label:"Payload (JSON)",value:g,set:k,error:V.error}),n(le,{label:"If the id exists",value:ee,set:ce,options:Ja}),n(qa,
{children:[n($,{label:"Attempts, at most",type:"number",value:_,set:b,hint:"1 to 1000; by default those of the namespace."}),n($,{label:"Callback timeout",value:v,
set:x,placeholder:"30s"}),n($,{label:"Correlation id",value:y,set:P}),n($,{label:"Flow key",value:I,set:we,hint:"Timers with the same key share a limit of the n\
amespace."})]})]}),n(ja,{curl:Ma("timers/create",H),cli:Ha(["timer","create",e||"order-1842"],U)})]})})}function za(){let[e,t]=h(""),[r,a]=h("cron"),[s,o]=h("0 \
8 * * MON-FRI"),[i,c]=h("15m"),[l,u]=h("FREQ=MONTHLY;BYDAY=-1FR"),[d,f]=h(Gn),[m,p]=h("http://127.0.0.1:9000/"),[g,k]=h(""),[_,b]=h("allow"),[v,x]=h("all"),[y,P]=h(
""),[I,we]=h("fail"),[ee,ce]=h(),[V,H]=h(),U=At(g),F=r==="cron"?{cron:s}:r==="every"?{every:i}:{rrule:l},Ae=r!=="every",Je=ar({namespace:T.value,id:e,specs:[F],
timeZone:Ae?d:void 0,overlap:_,catchUp:v,count:y?Number(y):void 0,timer:ar({callbackUrl:m,payload:U.value}),onConflict:I}),Bs=[[`--${r}`,String(Object.values(F)[0])],
["--time-zone",Ae?d:""],["--callback-url",m],["--payload",U.value===void 0?"":JSON.stringify(U.value)],["--overlap",_],["--catch-up",v],["--count",y],["--on-con\
flict",I]],Sr=JSON.stringify({namespace:T.value,specs:[F],timeZone:Ae?d:void 0});Y(()=>{let rt=new AbortController,Hs=setTimeout(()=>{N("schedules/preview",{...JSON.
parse(Sr),limit:6},rt.signal).then(An=>{ce(An),H(void 0)},An=>{rt.signal.aborted||(H(ne(An)),ce(void 0))})},300);return()=>{clearTimeout(Hs),rt.abort()}},[Sr]);
let Ms=async()=>{let{data:rt}=await Be("schedules/create",Je);return be(`${rt.id} is created.`),["schedules",rt.id]};return n(z,{title:"Create schedule",crumb:n(
w,{children:[n("a",{href:A(["schedules"]),children:"Schedules"})," / ",T.value]}),actions:n("a",{class:"button",href:A(["new","timer"]),children:"Timer instead"}),
children:n("div",{class:"grid",children:[n(Fa,{title:"Schedule",label:"Create schedule",id:e,invalid:U.error,send:Ms,children:[n($,{label:"Id",value:e,set:t,required:!0,
placeholder:"daily-report",mono:!0}),n(le,{label:"Occurs",value:r,set:a,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&
n($,{label:"Cron expression",value:s,set:o,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&n($,{label:"\
Interval",value:i,set:c,hint:"At least 1s."}),r==="rrule"&&n($,{label:"RRULE",value:l,set:u,mono:!0}),Ae&&n($,{label:"Time zone",value:d,set:f}),n($,{label:"Cal\
lback URL",value:m,set:p,mono:!0,hint:"Empty: an event on timerbus.fired."}),n(Ot,{label:"Payload (JSON)",value:g,set:k,error:U.error,rows:3}),n(le,{label:"If t\
he id exists",value:I,set:we,options:Ja}),n(qa,{children:[n(le,{label:"If the earlier occurrence is not finished",value:_,set:b,options:[["allow","Create the ne\
xt one"],["skip","Leave the next one out"],["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),n(le,{label:"After an outage",value:v,set:x,
options:[["all","Create all of the last minute"],["last","Create the last one"],["none","Create none"]]}),n($,{label:"Occurrences, at most",type:"number",value:y,
set:P})]})]}),n("div",{class:"column",children:[n(E,{title:"Next occurrences",flush:!0,children:[V&&n(de,{error:V}),ee&&n(rr,{of:ee.occurrences,timeZone:ee.timeZone})]}),
n(ja,{curl:Ma("schedules/create",Je),cli:Ha(["schedule","create",e||"daily-report"],Bs)})]})]})})}function Ka(){let e=B("namespaces",15e3,nn),[t,r]=h(!1);return n(z,{title:"Namespaces",actions:ct("admin")&&n(S,{kind:"primary",onClick:()=>{r(!0)},children:"Cr\
eate namespace\u2026"}),children:[n(E,{flush:!0,wide:!0,children:n(j,{of:e,children:a=>a.length===0?n(M,{title:"You may read no namespace.",command:"timerbus ke\
y list",children:"Ask an administrator for a grant such as read@default."}):n(w,{children:[Vn.value&&n("p",{class:"callout",children:["The first ",R(a.length),"\
 namespaces. ",n("code",{children:"timerbus namespace list"})," prints all."]}),n(oe,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host con\
currency","Max. pending","Signed","Updated"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Namespace",children:[n("a",{href:A(["\
namespaces",s.name]),children:s.name})," ",s.deletingSince&&n(se,{kind:"dead",children:"being deleted"})]}),n("td",{class:"num","data-label":"Shards",children:s.
numShards}),n("td",{"data-label":"History",children:Q(s.settings.historyRetention)}),n("td",{"data-label":"Dead",children:Q(s.settings.deadRetention)}),n("td",{
class:"num","data-label":"Host concurrency",children:s.settings.hostConcurrency}),n("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?
R(s.settings.quota.maxPending):n("span",{class:"muted",children:"no limit"})}),n("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":n("span",
{class:"muted",children:"no"})}),n("td",{"data-label":"Updated",children:n(D,{at:s.updatedAt,only:"relative"})})]},s.name))})]})})}),t&&n(Vo,{close:()=>{r(!1)},
after:e.again})]})}function Vo({close:e,after:t}){let[r,a]=h(""),[s,o]=h("small");return n(pe,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:s}:"Enter a name.",done:`${r} is created.`,close:e,after:t,children:[n($,{label:"Name",value:r,set:a,required:!0}),n(le,{label:"Size",value:s,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function Va({name:e}){let t=B(`namespace/${e}`,5e3,l=>N("namespaces/get",{name:e},l)),[r,a]=h(null),[s,o]=h(!1),i=l=>{
a({title:`${l==="pause"?"Pause":"Resume"} ${e}`,verb:l==="pause"?"Pause":"Resume",done:l==="pause"?"paused":"resumed",path:`timers/${l}-matching`,filter:{namespace:e},
describe:l==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(u,d)=>Xe(
{namespace:e},l==="resume"?["paused"]:["scheduled","retrying"],u,d)})},c=t.data&&n(w,{children:[ie("write",e)&&n(S,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),ie("write",e)&&n(S,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),ie("admin",e)&&n(S,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return n(z,{title:e,crumb:n("a",{href:A(["namespaces"]),children:"Namespaces"}),actions:c,children:[n(j,{of:t,children:l=>{let u=l.settings,d=u.
retryPolicy;return n("div",{class:"grid",children:[n(E,{title:"Settings",aside:l.deletingSince&&n(se,{kind:"dead",children:"being deleted"}),children:n(Pe,{of:[
["Shards",l.numShards],["Callback timeout",Q(u.callbackTimeout)],["Retry",`${ae(d.maxAttempts,"attempt")}, from ${Q(d.initialInterval)}, \xD7 ${JSON.stringify(d.
backoffMultiplier)}, to ${Q(d.maxInterval)}`],["History",Q(u.historyRetention)],["Dead timers",Q(u.deadRetention)],["Payloads of done timers",u.keepPayload?Q(u.
keepPayload):"not kept"],["Final statuses",u.finalStatuses?.join(", ")],["Event topics",u.eventTopics?.join(", ")],["On done",u.onDone&&n("code",{children:u.onDone})],
["On dead",u.onDead&&n("code",{children:u.onDead})],["Result events",u.results],["Headers",u.headers&&Object.keys(u.headers).join(", ")],["Version",l.version],[
"Updated",n(D,{at:l.updatedAt})]]})}),n(E,{title:"Limits",children:n(Pe,{of:[["Calls of one host",`${u.hostConcurrency} for each dispatcher`],["Pending timers",
u.quota?.maxPending?R(u.quota.maxPending):"no limit"],["Creates",u.quota?.createsPerSecond?`${R(u.quota.createsPerSecond)} per second`:"no limit"],["Payload",u.
quota?.maxPayloadBytes?`${R(u.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(u.flows??[]).map(f=>[`Flow ${f.pattern}`,sn(f)])]})}),n(E,{title:"Keys of sign\
atures",flush:!0,wide:!0,children:u.secrets?.length?n(oe,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:u.secrets.map(f=>n("tr",{children:[
n("td",{children:n("code",{children:f.id})}),n("td",{children:n(D,{at:f.createdAt})}),n("td",{children:f.expiresAt?n(D,{at:f.expiresAt}):"never"})]},f.id))}):n(
M,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),(u.callbackAuth||
u.tls)&&n(E,{title:"Authentication of callbacks",children:n(Pe,{of:[["Type",u.callbackAuth?.type],["Token endpoint",u.callbackAuth?.tokenUrl],["Client",u.callbackAuth?.
clientId??u.callbackAuth?.username],["Own authorities",u.tls?.ca&&"yes"],["Client certificate",u.tls?.certificate&&"yes"]]})})]})}}),r&&n(pt,{action:r,close:()=>{
a(null)},after:t.again}),s&&t.data&&n(Zo,{of:t.data,close:()=>{o(!1)},after:t.again})]})}function Zo({of:e,close:t,after:r}){let[a]=h(e),s=a.settings,o={callbackTimeout:Q(
s.callbackTimeout),historyRetention:Q(s.historyRetention),deadRetention:Q(s.deadRetention),hostConcurrency:String(s.hostConcurrency),maxPending:String(s.quota?.
maxPending??"")},[i,c]=h(o),l=d=>f=>{c({...i,[d]:f})},u=()=>{let d={};for(let f of["callbackTimeout","historyRetention","deadRetention"])i[f]!==o[f]&&(d[f]=i[f]||
null);return i.hostConcurrency!==o.hostConcurrency&&(d.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==o.maxPending&&(d.quota={
...s.quota,maxPending:i.maxPending?Number(i.maxPending):null}),Object.keys(d).length?{name:a.name,settings:d,ifVersion:a.version}:"Nothing has changed."};return n(
pe,{title:`Edit ${a.name}`,verb:"Save",path:"namespaces/update",body:u,done:`${a.name} is updated.`,close:t,after:r,children:[n($,{label:"Callback timeout",value:i.
callbackTimeout,set:l("callbackTimeout"),hint:"1s to 5m"}),n($,{label:"History retention",value:i.historyRetention,set:l("historyRetention")}),n($,{label:"Dead \
retention",value:i.deadRetention,set:l("deadRetention")}),n($,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,set:l("hostCo\
ncurrency"),hint:"1 to 1024"}),n($,{label:"Pending timers, at most",type:"number",value:i.maxPending,set:l("maxPending"),hint:"Empty: no limit"}),n("p",{class:"\
hint",children:["Empty fields get their default. All other settings: ",n("code",{children:["timerbus namespace update ",a.name," --help"]})]})]})}var sr;(typeof navigator>"u"||!navigator.userAgent?.startsWith?.("Mozilla/5.0 "))&&(sr="oauth4webapi/v3.8.8");function xn(e,t){if(e==null)return!1;try{return e instanceof
t||Object.getPrototypeOf(e)[Symbol.toStringTag]===t.prototype[Symbol.toStringTag]}catch{return!1}}var Te="ERR_INVALID_ARG_VALUE",Ce="ERR_INVALID_ARG_TYPE";function K(e,t,r){
let a=new TypeError(e,{cause:r});return Object.assign(a,{code:t}),a}var Sn=Symbol(),Go=Symbol(),Yo=Symbol(),Qa=Symbol();var Za=Symbol();var Qo=new TextEncoder,Xo=new TextDecoder;function or(e){return typeof e=="string"?Qo.encode(e):Xo.decode(e)}var ir;Uint8Array.prototype.toBase64?ir=e=>(e instanceof
ArrayBuffer&&(e=new Uint8Array(e)),e.toBase64({alphabet:"base64url",omitPadding:!0})):ir=t=>{t instanceof ArrayBuffer&&(t=new Uint8Array(t));let r=[];for(let a=0;a<
t.byteLength;a+=32768)r.push(String.fromCharCode.apply(null,t.subarray(a,a+32768)));return btoa(r.join("")).replace(/=/g,"").replace(/\+/g,"-").replace(/\//g,"_")};
var cr;Uint8Array.fromBase64?cr=e=>{try{return Uint8Array.fromBase64(e,{alphabet:"base64url"})}catch(t){throw K("The input to be decoded is not correctly encode\
d.",Te,t)}}:cr=e=>{try{let t=atob(e.replace(/-/g,"+").replace(/_/g,"/").replace(/\s/g,"")),r=new Uint8Array(t.length);for(let a=0;a<t.length;a++)r[a]=t.charCodeAt(
a);return r}catch(t){throw K("The input to be decoded is not correctly encoded.",Te,t)}};function yn(e){return typeof e=="string"?cr(e):ir(e)}var ht=class extends Error{code;constructor(t,r){
super(t,r),this.name=this.constructor.name,this.code=Ui,Error.captureStackTrace?.(this,this.constructor)}},ur=class extends Error{code;constructor(t,r){super(t,
r),this.name=this.constructor.name,r?.code&&(this.code=r?.code),Error.captureStackTrace?.(this,this.constructor)}};function C(e,t,r){return new ur(e,{code:t,cause:r})}function _n(e){return!(e===null||typeof e!="object"||Array.isArray(e))}function Xa(e){xn(e,Headers)&&(e=Object.fromEntries(e.entries()));let t=new Headers(e??{});
if(sr&&!t.has("user-agent")&&t.set("user-agent",sr),t.has("authorization"))throw K('"options.headers" must not include the "authorization" header name',Te);return t}
function es(e,t){if(t!==void 0){if(typeof t=="function"&&(t=t(e.href)),!(t instanceof AbortSignal))throw K('"options.signal" must return or be an instance of Ab\
ortSignal',Ce);return t}}function ts(e){return e.includes("//")?e.replace("//","/"):e}function ei(e,t,r=!1){return e.pathname==="/"?e.pathname=t:e.pathname=ts(`${t}\
/${r?e.pathname:e.pathname.replace(/(\/)$/,"")}`),e}function ti(e,t){return e.pathname=ts(`${e.pathname}/${t}`),e}async function ni(e,t,r,a){if(!(e instanceof URL))
throw K(`"${t}" must be an instance of URL`,Ce);fs(e,a?.[Sn]!==!0);let s=r(new URL(e.href)),o=Xa(a?.headers);return o.set("accept","application/json"),(a?.[Qa]||
fetch)(s.href,{body:void 0,headers:Object.fromEntries(o.entries()),method:"GET",redirect:"manual",signal:es(s,a?.signal)})}async function ns(e,t){return ni(e,"i\
ssuerIdentifier",r=>{switch(t?.algorithm){case void 0:case"oidc":ti(r,".well-known/openid-configuration");break;case"oauth2":ei(r,".well-known/oauth-authorizati\
on-server");break;default:throw K('"options.algorithm" must be "oidc" (default), or "oauth2"',Te)}return r},t)}function bn(e,t,r,a,s){try{if(typeof e!="number"||
!Number.isFinite(e))throw K(`${r} must be a number`,Ce,s);if(e>0)return;if(t){if(e!==0)throw K(`${r} must be a non-negative number`,Te,s);return}throw K(`${r} m\
ust be a positive number`,Te,s)}catch(o){throw a?C(o.message,a,s):o}}function ve(e,t,r,a){try{if(typeof e!="string")throw K(`${t} must be a string`,Ce,a);if(e.length===
0)throw K(`${t} must not be empty`,Te,a)}catch(s){throw r?C(s.message,r,a):s}}async function rs(e,t){let r=e;if(!(r instanceof URL)&&r!==Ya)throw K('"expectedIs\
suerIdentifier" must be an instance of URL',Ce);if(!xn(t,Response))throw K('"response" must be an instance of Response',Ce);if(t.status!==200)throw C('"response\
" is not a conform Authorization Server Metadata response (unexpected HTTP status code)',xs,t);yr(t);let a=await Ts(t);if(ve(a.issuer,'"response" body "issuer" \
property',L,{body:a}),r!==Ya&&new URL(a.issuer).href!==r.href)throw C('"response" body "issuer" property does not match the expected value',Fi,{expected:r.href,
body:a,attribute:"issuer"});return a}function as(e){ai(e,"application/json")}function ri(e,...t){let r='"response" content-type must be ';if(t.length>2){let a=t.
pop();r+=`${t.join(", ")}, or ${a}`}else t.length===2?r+=`${t[0]} or ${t[1]}`:r+=t[0];return C(r,Mi,e)}function ai(e,t){if(bi(e)!==t)throw ri(e,t)}function fr(){return yn(crypto.getRandomValues(new Uint8Array(32)))}function ss(){return fr()}function os(){return fr()}
function is(){return fr()}async function cs(e){return ve(e,"codeVerifier"),yn(await crypto.subtle.digest("SHA-256",or(e)))}function us(e){let t=e?.[Go];return typeof t=="number"&&Number.isFinite(t)?t:0}function ls(e){let t=e?.[Yo];return typeof t=="number"&&Number.isFinite(t)&&Math.
sign(t)!==-1?t:30}function ds(){return Math.floor(Date.now()/1e3)}function mr(e){if(typeof e!="object"||e===null)throw K('"as" must be an object',Ce);ve(e.issuer,
'"as.issuer"')}function hr(e){if(typeof e!="object"||e===null)throw K('"client" must be an object',Ce);ve(e.client_id,'"client.client_id"')}function ps(){return(e,t,r,a)=>{r.set("client_id",t.client_id)}}var si=URL.parse?(e,t)=>URL.parse(e,t):(e,t)=>{try{return new URL(e,t)}catch{return null}};function fs(e,t){if(t&&e.protocol!=="https:")throw C("only requests t\
o HTTPS are allowed",Hi,e);if(e.protocol!=="https:"&&e.protocol!=="http:")throw C("only HTTP and HTTPS requests are allowed",ji,e)}function Ga(e,t,r,a){let s;if(typeof e!=
"string"||!(s=si(e)))throw C(`authorization server metadata does not contain a valid ${r?`"as.mtls_endpoint_aliases.${t}"`:`"as.${t}"`}`,e===void 0?Ji:qi,{attribute:r?
`mtls_endpoint_aliases.${t}`:t});return fs(s,a),s}function oi(e,t,r,a){return r&&e.mtls_endpoint_aliases&&t in e.mtls_endpoint_aliases?Ga(e.mtls_endpoint_aliases[t],
t,r,a):Ga(e[t],t,r,a)}var Dt=class extends Error{cause;code;error;status;error_description;response;constructor(t,r){super(t,r),this.name=this.constructor.name,this.code=Ii,this.cause=
r.cause,this.error=r.cause.error,this.status=r.response.status,this.error_description=r.cause.error_description,Object.defineProperty(this,"response",{enumerable:!1,
value:r.response}),Error.captureStackTrace?.(this,this.constructor)}},Lt=class extends Error{cause;code;error;error_description;constructor(t,r){super(t,r),this.
name=this.constructor.name,this.code=Bi,this.cause=r.cause,this.error=r.cause.get("error"),this.error_description=r.cause.get("error_description")??void 0,Error.
captureStackTrace?.(this,this.constructor)}},lr=class extends Error{cause;code;response;status;constructor(t,r){super(t,r),this.name=this.constructor.name,this.
code=Li,this.cause=r.cause,this.status=r.response.status,this.response=r.response,Object.defineProperty(this,"response",{enumerable:!1}),Error.captureStackTrace?.(
this,this.constructor)}},vn="[a-zA-Z0-9!#$%&\\'\\*\\+\\-\\.\\^_`\\|~]+",ii="[a-zA-Z0-9\\-\\._\\~\\+\\/]+={0,2}",ci='"((?:[^"\\\\]|\\\\[\\s\\S])*)"',ui="("+vn+")\
\\s*=\\s*"+ci,li="("+vn+")\\s*=\\s*("+vn+")",di=new RegExp("^[,\\s]*("+vn+")"),pi=new RegExp("^[,\\s]*"+ui+"[,\\s]*(.*)"),fi=new RegExp("^[,\\s]*"+li+"[,\\s]*(.*\
)"),mi=new RegExp("^("+ii+")(?:$|[,\\s])(.*)");function hi(e){if(!xn(e,Response))throw K('"response" must be an instance of Response',Ce);let t=e.headers.get("w\
ww-authenticate");if(t===null)return;let r=[],a=t;for(;a;){let s=a.match(di),o=s?.[1].toLowerCase();if(!o)return;let i=a.substring(s[0].length);if(i&&!i.match(/^[\s,]/))
return;let c=i.match(/^\s+(.*)$/),l=!!c;a=c?c[1]:void 0;let u={},d;if(l)for(;a;){let m,p;if(s=a.match(pi)){[,m,p,a]=s,p.includes("\\")&&(p=p.replace(/\\([\s\S])/g,
"$1")),u[m.toLowerCase()]=p;continue}if(s=a.match(fi)){[,m,p,a]=s,u[m.toLowerCase()]=p;continue}if(s=a.match(mi)){if(Object.keys(u).length)break;[,d,a]=s;break}
return}else a=i||void 0;let f={scheme:o,parameters:u};d&&(f.token68=d),r.push(f)}if(r.length)return r}async function gi(e){if(e.status>399&&e.status<500){yr(e),as(e);try{let t=await e.clone().json();if(_n(t)&&typeof t.error=="string"&&t.error.length)return t}catch{}}}
async function yi(e,t,r){if(e.status!==t){xi(e);let a;throw(a=await gi(e))?(await e.body?.cancel(),new Dt("server responded with an error in the response body",
{cause:a,response:e})):C(`"response" is not a conform ${r} response (unexpected HTTP status code)`,xs,e)}}function _i(e){if(!gr.has(e))throw K('"options.DPoP" i\
s not a valid DPoPHandle',Te)}function bi(e){return e.headers.get("content-type")?.split(";")[0]}async function vi(e,t,r,a,s,o,i){return await r(e,t,s,o),o.set("content-type","application/x-www-form-urlencoded;charset=UTF-8"),(i?.[Qa]||fetch)(a.href,{body:s,
headers:Object.fromEntries(o.entries()),method:"POST",redirect:"manual",signal:es(a,i?.signal)})}async function wi(e,t,r,a,s,o){let i=oi(e,"token_endpoint",t.use_mtls_endpoint_aliases,
o?.[Sn]!==!0);s.set("grant_type",a);let c=Xa(o?.headers);c.set("accept","application/json"),o?.DPoP!==void 0&&(_i(o.DPoP),await o.DPoP.addProof(i,c,"POST"));let l=await vi(
e,t,r,i,s,c,o);return o?.DPoP?.cacheNonce(l,i),l}var ms=new WeakMap,ki=new WeakMap;function hs(e){if(!e.id_token)return;let t=ms.get(e);if(!t)throw K('"ref" was already garbage collected or did not resolve fro\
m the proper sources',Te);return t}async function gs(e,t,r,a,s,o){if(mr(e),hr(t),!xn(r,Response))throw K('"response" must be an instance of Response',Ce);await yi(r,200,"Token Endpoint"),yr(r);let i=await Ts(
r);if(ve(i.access_token,'"response" body "access_token" property',L,{body:i}),ve(i.token_type,'"response" body "token_type" property',L,{body:i}),i.token_type=i.
token_type.toLowerCase(),i.expires_in!==void 0){let c=typeof i.expires_in!="number"?parseFloat(i.expires_in):i.expires_in;bn(c,!0,'"response" body "expires_in" \
property',L,{body:i}),i.expires_in=c}if(i.refresh_token!==void 0&&ve(i.refresh_token,'"response" body "refresh_token" property',L,{body:i}),i.scope!==void 0&&typeof i.
scope!="string")throw C('"response" body "scope" property must be a string',L,{body:i});if(i.id_token!==void 0){ve(i.id_token,'"response" body "id_token" proper\
ty',L,{body:i});let c=[];t.require_auth_time===!0&&c.push("auth_time"),t.default_max_age!==void 0&&(bn(t.default_max_age,!0,'"client.default_max_age"'),c.push("\
auth_time")),a?.length&&c.push(...a);let{claims:l,jwt:u}=await Ei(e,t,i.id_token,c,s);Oi(t,l),$i(l),ki.set(r,u),ms.set(i,l)}if(o?.[i.token_type]!==void 0)o[i.token_type](
r,i);else if(i.token_type!=="dpop"&&i.token_type!=="bearer")throw new ht("unsupported `token_type` value",{cause:{body:i}});return i}function xi(e){let t;if(t=hi(
e))throw new lr("server responded with a challenge in the WWW-Authenticate HTTP Header",{cause:t,response:e})}function Si(e,t){if(Array.isArray(t.claims.aud)){if(!t.claims.aud.includes(e))throw C('unexpected JWT "aud" (audience) claim value',gt,{expected:e,claims:t.claims,
claim:"aud"})}else if(t.claims.aud!==e)throw C('unexpected JWT "aud" (audience) claim value',gt,{expected:e,claims:t.claims,claim:"aud"});return t}function Ti(e,t){let r=e[Zi]?.(t)??e.issuer;if(t.claims.iss!==r)throw C('unexpected JWT "iss" (issuer) claim value',gt,{expected:r,claims:t.claims,claim:"iss"});
return t}var gr=new WeakSet;function Ci(e){return gr.add(e),e}var Ai=Symbol();async function ys(e,t,r,a,s,o,i){if(mr(e),hr(t),!gr.has(a))throw K('"callbackParam\
eters" must be an instance of URLSearchParams obtained from "validateAuthResponse()", or "validateJwtAuthResponse()',Te);ve(s,'"redirectUri"');let c=nt(a,"code");
if(!c)throw C('no authorization code in "callbackParameters"',L);let l=new URLSearchParams(i?.additionalParameters);return l.set("redirect_uri",s),l.set("code",
c),o!==Ai&&(ve(o,'"codeVerifier"'),l.set("code_verifier",o)),wi(e,t,r,"authorization_code",l,i)}var _s={aud:"audience",c_hash:"code hash",client_id:"client id",
exp:"expiration time",iat:"issued at",iss:"issuer",jti:"jwt id",nonce:"nonce",s_hash:"state hash",sub:"subject",ath:"access token hash",htm:"http method",htu:"h\
ttp uri",cnf:"confirmation",auth_time:"authentication time"};function Ri(e,t){for(let r of e)if(t.claims[r]===void 0)throw C(`JWT "${r}" (${_s[r]}) claim missin\
g`,L,{claims:t.claims});return t}function Pi(e,t){if(typeof t.claims[e]!="string")throw C(`unexpected JWT "${e}" (${_s[e]}) claim type`,L,{claims:t.claims});return t}
function Ei(e,t,r,a,s){return Wi(r,zi.bind(void 0,t.id_token_signed_response_alg,e.id_token_signing_alg_values_supported,"RS256"),us(t),ls(t),s).then(Ri.bind(void 0,
["aud","exp","iat","iss","sub",...a])).then(Ti.bind(void 0,e)).then(Si.bind(void 0,t.client_id)).then(Pi.bind(void 0,"sub"))}function bs(e,t){if(t===kn)return t;
let r=t===void 0;return r&&(t=e.default_max_age),t===void 0?kn:(bn(t,!0,r?'"client.default_max_age"':'"maxAge" argument'),t)}function $i(e){e.auth_time!==void 0&&
bn(e.auth_time,!0,'ID Token "auth_time" (authentication time)',L,{claims:e})}function vs(e,t,r){if(r===kn)return;let a=ds()+us(e),s=ls(e);if(t.auth_time+r<a-s)throw C(
"too much time has elapsed since the last End-User authentication",pr,{claims:t,now:a,tolerance:s,claim:"auth_time"})}function ws(e,t){let r=t===wn?void 0:t;if(e.
nonce!==r)throw C('unexpected ID Token "nonce" claim value',gt,{expected:r,claims:e,claim:"nonce"})}function Oi(e,t){if(Array.isArray(t.aud)&&t.aud.length!==1){
if(t.azp===void 0)throw C('ID Token "aud" (audience) claim includes additional untrusted audiences',gt,{claims:t,claim:"aud"});if(t.azp!==e.client_id)throw C('u\
nexpected ID Token "azp" (authorized party) claim value',gt,{expected:e.client_id,claims:t,claim:"azp"})}}var wn=Symbol(),kn=Symbol();async function ks(e,t,r,a){
return typeof a?.expectedNonce=="string"||typeof a?.maxAge=="number"||a?.requireIdToken?Ni(e,t,r,a.expectedNonce,a.maxAge,a[Za],a.recognizedTokenTypes):Di(e,t,r,
a?.maxAge,a?.[Za],a?.recognizedTokenTypes)}async function Ni(e,t,r,a,s,o,i){let c=[];switch(a){case void 0:a=wn;break;case wn:break;default:ve(a,'"expectedNonce\
" argument'),c.push("nonce")}s=bs(t,s),s!==kn&&c.push("auth_time");let l=await gs(e,t,r,c,o,i);ve(l.id_token,'"response" body "id_token" property',L,{body:l});let u=hs(
l);return vs(t,u,s),ws(u,a),l}async function Di(e,t,r,a,s,o){let i=await gs(e,t,r,void 0,s,o),c=hs(i);return c&&(vs(t,c,bs(t,a)),ws(c,wn)),i}var Li="OAUTH_WWW_A\
UTHENTICATE_CHALLENGE",Ii="OAUTH_RESPONSE_BODY_ERROR",Ui="OAUTH_UNSUPPORTED_OPERATION",Bi="OAUTH_AUTHORIZATION_RESPONSE_ERROR";var dr="OAUTH_PARSE_ERROR",L="OAUTH_INVALID_RESPONSE";var Mi="OAUTH_RESPONSE_IS_NOT_JSON",xs="OAUTH_RESPONSE_IS_NOT_CONFORM",Hi="OAUTH_HTTP_REQUEST_FORBIDDEN",ji="OAUTH_REQUEST_PROTOCOL_FORBIDDEN",pr="OAUTH_JWT_TIM\
ESTAMP_CHECK_FAILED",gt="OAUTH_JWT_CLAIM_COMPARISON_FAILED",Fi="OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";var Ji="OAUTH_MISSING_SERVER_METADATA",qi="OAUTH_INVALID_SERVER_METADATA";function yr(e){if(e.bodyUsed)throw K('"response" body has been used already',Te)}async function Wi(e,t,r,a,s){let{0:o,1:i,length:c}=e.split(".");if(c===5)if(s!==void 0)e=await s(e),{0:o,1:i,length:c}=e.split(".");else throw new ht("JWE decry\
ption is not configured",{cause:e});if(c!==3)throw C("Invalid JWT",L,e);let l;try{l=JSON.parse(or(yn(o)))}catch(f){throw C("failed to parse JWT Header body as b\
ase64url encoded JSON",dr,f)}if(!_n(l))throw C("JWT Header must be a top level object",L,e);if(t(l),l.crit!==void 0)throw new ht('no JWT "crit" header parameter\
 extensions are supported',{cause:{header:l}});let u;try{u=JSON.parse(or(yn(i)))}catch(f){throw C("failed to parse JWT Payload body as base64url encoded JSON",dr,
f)}if(!_n(u))throw C("JWT Payload must be a top level object",L,e);let d=ds()+r;if(u.exp!==void 0){if(typeof u.exp!="number")throw C('unexpected JWT "exp" (expi\
ration time) claim type',L,{claims:u});if(u.exp<=d-a)throw C('unexpected JWT "exp" (expiration time) claim value, expiration is past current timestamp',pr,{claims:u,
now:d,tolerance:a,claim:"exp"})}if(u.iat!==void 0&&typeof u.iat!="number")throw C('unexpected JWT "iat" (issued at) claim type',L,{claims:u});if(u.iss!==void 0&&
typeof u.iss!="string")throw C('unexpected JWT "iss" (issuer) claim type',L,{claims:u});if(u.nbf!==void 0){if(typeof u.nbf!="number")throw C('unexpected JWT "nb\
f" (not before) claim type',L,{claims:u});if(u.nbf>d+a)throw C('unexpected JWT "nbf" (not before) claim value',pr,{claims:u,now:d,tolerance:a,claim:"nbf"})}if(u.
aud!==void 0&&typeof u.aud!="string"&&!Array.isArray(u.aud))throw C('unexpected JWT "aud" (audience) claim type',L,{claims:u});return{header:l,claims:u,jwt:e}}function zi(e,t,r,a){if(e!==void 0){if(typeof e=="string"?a.alg!==e:!e.includes(a.alg))throw C('unexpected JWT "alg" header parameter',L,{header:a,expected:e,reason:"\
client configuration"});return}if(Array.isArray(t)){if(!t.includes(a.alg))throw C('unexpected JWT "alg" header parameter',L,{header:a,expected:t,reason:"authori\
zation server metadata"});return}if(r!==void 0){if(typeof r=="string"?a.alg!==r:typeof r=="function"?!r(a.alg):!r.includes(a.alg))throw C('unexpected JWT "alg" \
header parameter',L,{header:a,expected:r,reason:"default value"});return}throw C('missing client or server configuration to verify used JWT "alg" header paramet\
er',void 0,{client:e,issuer:t,fallback:r})}function nt(e,t){let{0:r,length:a}=e.getAll(t);if(a>1)throw C(`"${t}" parameter must be provided only once`,L);return r}
var Ki=Symbol(),Vi=Symbol();function Ss(e,t,r,a){if(mr(e),hr(t),r instanceof URL&&(r=r.searchParams),!(r instanceof URLSearchParams))throw K('"parameters" must \
be an instance of URLSearchParams, or URL',Ce);if(nt(r,"response"))throw C('"parameters" contains a JARM response, use validateJwtAuthResponse() instead of vali\
dateAuthResponse()',L,{parameters:r});let s=nt(r,"iss"),o=nt(r,"state");if(!s&&e.authorization_response_iss_parameter_supported)throw C('response parameter "iss\
" (issuer) missing',L,{parameters:r});if(s&&s!==e.issuer)throw C('unexpected "iss" (issuer) response parameter value',L,{expected:e.issuer,parameters:r});switch(a){case void 0:case Vi:
if(o!==void 0)throw C('unexpected "state" response parameter encountered',L,{expected:void 0,parameters:r});break;case Ki:break;default:if(ve(a,'"expectedState"\
 argument'),o!==a)throw C(o===void 0?'response parameter "state" missing':'unexpected "state" response parameter value',L,{expected:a,parameters:r})}if(nt(r,"er\
ror"))throw new Lt("authorization response from the server is an error",{cause:r});let c=nt(r,"id_token"),l=nt(r,"token");if(c!==void 0||l!==void 0)throw new ht(
"implicit and hybrid flows are not supported");return Ci(new URLSearchParams(r))}async function Ts(e,t=as){let r;try{r=await e.json()}catch(a){throw t(e),C('failed to parse "response" body as JSON',dr,a)}if(!_n(r))throw C('"response" body mu\
st be a top level object',L,{body:r});return r}var Ya=Symbol(),Zi=Symbol();var br="timerbus-sign-in",Yi=1e4,vr=new URL("./",document.baseURI).href,{issuer:yt,audience:Cs,clientID:Tn,scopes:Qi}=ye.signIn,_r={client_id:Tn},Fe=Tn&&new URL(
yt).host,As=()=>({[Sn]:yt.startsWith("http:"),signal:AbortSignal.timeout(Yi)});async function Rs(){if(!isSecureContext)throw new Error("This page must be opened\
 with HTTPS to sign in with the identity provider.");let e=await rs(new URL(yt),await ns(new URL(yt),As()));if(!e.authorization_endpoint||!e.token_endpoint)throw new Error(
"It has no endpoints for the sign-in of users.");if(new URL(e.token_endpoint).origin!==new URL(yt).origin)throw new Error(`Its token endpoint ${e.token_endpoint}\
 has another origin than the issuer, to which the policy of this page allows no requests.`);if(new URL(e.authorization_endpoint).protocol!==new URL(yt).protocol)
throw new Error(`Its sign-in page ${e.authorization_endpoint} has another scheme than the issuer.`);return e}function Ps(e){if(e instanceof Lt||e instanceof Dt)
return new Error(`${Fe} refuses the sign-in: ${[e.error,e.error_description].filter(Boolean).join(": ")}`);let t=e instanceof Error?e.message:String(e);return e instanceof
TypeError&&!e.code?new Error(`${Fe} cannot be reached from this browser, or does not allow requests of this page (CORS): ${t}`):new Error(`The sign-in with ${Fe}\
 has failed: ${t}`)}async function Es(){try{let e=await Rs(),t={state:os(),nonce:is(),verifier:ss(),hash:location.hash},r=new URL(e.authorization_endpoint);for(let[
a,s]of Object.entries({response_type:"code",client_id:Tn,redirect_uri:vr,scope:Qi,state:t.state,nonce:t.nonce,code_challenge:await cs(t.verifier),code_challenge_method:"\
S256"}))r.searchParams.set(a,s);sessionStorage.setItem(br,JSON.stringify(t)),location.assign(r)}catch(e){throw Ps(e)}}function $s(){let e=new URLSearchParams(location.
search);return Tn!==""&&(e.has("code")||e.has("error"))}async function Os(){let e=new URL(location.href),t=JSON.parse(sessionStorage.getItem(br)??"null");if(sessionStorage.
removeItem(br),history.replaceState(null,"",vr+(t?.hash??"")),dispatchEvent(new HashChangeEvent("hashchange")),!t)throw new Error("The answer of the identity pr\
ovider belongs to no sign-in of this tab. Sign in again.");try{let r=await Rs(),a=Ss(r,_r,e,t.state),s=await ys(r,_r,ps(),a,vr,t.verifier,As()),o=await ks(r,_r,
s,{expectedNonce:t.nonce,requireIdToken:!0}),i=[o.access_token,o.id_token].find(c=>c!==void 0&&Xi(c).includes(Cs));if(!i)throw new Error(`neither the access tok\
en nor the ID token is a JWT with the audience ${Cs}.`);it(i)}catch(r){throw Ps(r)}}function Xi(e){try{let t=atob((e.split(".")[1]??"").replaceAll("-","+").replaceAll(
"_","/"));return[JSON.parse(t).aud??[]].flat()}catch{return[]}}var ec=50;function tc(e){if(!e.held)return"free";let t=Yn(e.overdueFor??"");return t>=6e4?"l4":t>=1e4?"l3":t>=2e3?"l2":t>0?"l1":"l0"}var nc=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Ns(){let e=T.value,t=B(`shards/${e}`,5e3,s=>N("shards/list",
{namespace:e},s)),[r,a]=h(ec);return n(z,{title:"Shards",children:n(j,{of:t,children:({shards:s})=>{let o=s.filter(f=>!f.held).length,i=s.filter(f=>f.overdueFor),
c=Math.max(0,...i.map(f=>Yn(f.overdueFor??""))),l=new Map;for(let f of s)f.held&&l.set(f.node??"",(l.get(f.node??"")??0)+1);let u=Math.max(1,...l.values()),d=Pt();
return n(w,{children:[n("div",{class:"tiles",children:[n(X,{label:"Shards",value:R(s.length),hint:e}),n(X,{label:"Without an owner",value:R(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),n(X,{label:"With overdue timers",value:R(i.length),kind:c>1e4?"warn":"",hint:c?`longest ${He(c)}`:
"none"}),n(X,{label:"Nodes",value:R(l.size),hint:"that own shards"})]}),n("div",{class:"grid",children:[n(E,{title:"Lag",wide:!0,aside:n("div",{class:"legend",children:nc.
map(([f,m])=>n("span",{children:[n("i",{class:`cell ${f}`}),m]},f))}),children:n("div",{class:"heat",role:"img","aria-label":`${ae(s.length,"shard")}: ${o} with\
out an owner, ${i.length} with overdue timers. The table below lists ${s.length>r?`the first ${r}`:"them"}.`,children:s.map(f=>n("i",{class:`cell ${tc(f)}`,title:`\
shard ${f.shard}, partition ${f.partition}, ${f.held?f.node:"no owner"}${f.overdueFor?`, overdue for ${f.overdueFor}`:""}`},f.shard))})}),n(E,{title:"Balance",wide:!0,
children:l.size===0?n(M,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):n("ul",{class:"balance",children:[...l].
sort(([f],[m])=>f<m?-1:1).map(([f,m])=>n("li",{children:[n("span",{class:"clip",children:f}),n("span",{class:"meter","aria-hidden":"true",children:n("span",{style:{
width:`${m/u*100}%`}})}),n("span",{class:"num",children:ae(m,"shard")})]},f))})}),n(E,{title:"Every shard",wide:!0,flush:!0,children:[n(oe,{caption:"Shards",head:[
"Shard","Partition","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(f=>n("tr",{children:[n("td",{class:"num","data-la\
bel":"Shard",children:f.shard}),n("td",{class:"num","data-label":"Partition",children:f.partition}),n("td",{class:"clip","data-label":"Owner",children:f.held?f.
node:n(se,{kind:"retrying",children:"none"})}),n("td",{"data-label":"Claimed",children:n(D,{at:f.claimedAt,only:"relative"})}),n("td",{"data-label":"Watermark",
children:f.watermark?n("time",{dateTime:f.watermark,title:f.watermark,children:[He(Math.max(0,d-Date.parse(f.watermark)))," behind"]}):n("span",{class:"muted",children:"\
\u2013"})}),n("td",{"data-label":"Next due",children:n(D,{at:f.nextDueAt,only:"relative"})}),n("td",{class:"num","data-label":"Overdue for",children:f.overdueFor??
n("span",{class:"muted",children:"\u2013"})})]},f.shard))}),s.length>r&&n("div",{class:"pager",children:[n("span",{class:"muted",children:[r," of ",R(s.length)]}),
n(S,{onClick:()=>{a(r+500)},children:"Show more"})]})]})]})]})}})})}function rc(){let e=q(new mt("dispatcher_callback_seconds_count")),t=T.value,r=B(`callbacks/${t}`,3e3,async a=>{let s=new ft(await en(a)),o=e.current.add(s),i=c=>s.
quantile(c,"dispatcher_callback_seconds",o,{namespace:t});return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queue\
d"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...s.by("dispatcher_callbacks_total","re\
sult",{namespace:t})].filter(([,c])=>c>0)}});return n(j,{of:r,children:a=>a.called===void 0?n("p",{class:"callout",children:["This process delivers no timers, s\
o it knows no hosts. Dispatchers export their figures at ",n("code",{children:"/metrics"}),"."]}):n(w,{children:[n("div",{class:"tiles",children:[n(X,{label:"Ho\
sts called",value:R(a.called),hint:"with calls in flight"}),n(X,{label:"Hosts with a queue",value:R(a.queued??0),hint:"timers wait for a permit",kind:a.queued?"\
warn":""}),n(X,{label:"Open circuits",value:R(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),n(X,{label:"In flight",value:R(a.inFlight??0),hint:"\
deliveries of this process"}),n(X,{label:"Callback p50",value:Ye(a.p50),hint:`${t}, last minute`}),n(X,{label:"Callback p99",value:Ye(a.p99),hint:`${t}, last mi\
nute`})]}),a.results.length>0&&n(E,{title:`Answers of ${t} since the start of this process`,wide:!0,children:n("div",{class:"chips",children:a.results.map(([s,o])=>n(
"span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":"dead"}`,children:[s," ",n("strong",{children:R(o)})]},s))})})]})})}function ac(){let e=T.value,t=B(`targets\
/${e}`,3e3,r=>N("targets/list",{namespace:e,limit:200},r));return n(E,{title:"Hosts and user topics",flush:!0,wide:!0,children:n(j,{of:t,children:({delivers:r,targets:a})=>r?
a.length===0?n(M,{title:`No timer of ${e} has been delivered since the start of this process.`}):n(oe,{caption:"Hosts and user topics",head:["Target","Circuit",
"Running","Waiting","Concurrency"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Target",children:s.target}),n("td",{"data-label":"\
Circuit",children:s.circuitOpen?n(se,{kind:"dead",children:"open"}):n(se,{kind:"done",children:"closed"})}),n("td",{class:"num","data-label":"Running",children:R(
s.running)}),n("td",{class:"num","data-label":"Waiting",children:R(s.waiting)}),n("td",{class:"num","data-label":"Concurrency",children:R(s.concurrency)})]},s.target))}):
n(M,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not share this state."})})})}function Ds(){
let e=T.value,t=re.value.query.get("after")??"",r=B(`flows/${e}/${t}`,3e3,a=>N("flows/list",{namespace:e,after:t||void 0,limit:100},a));return n(z,{title:"Targe\
ts",children:[ct("read")?n(rc,{}):n("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),n(ac,{}),n(E,{title:"Flow keys",
flush:!0,wide:!0,children:n(j,{of:r,children:a=>n(w,{children:[a.flows.length===0?n(M,{title:`No flow of ${e} is in use.`,command:`timerbus namespace update ${e}\
 --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):n(oe,{caption:"Flow keys",head:["Flow\
 key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:a.flows.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Flow key",children:s.
flowKey}),n("td",{"data-label":"Limit",children:s.limit?sn(s.limit):"no pattern matches"}),n("td",{class:"num","data-label":"Running",children:R(s.running)}),n(
"td",{class:"num","data-label":"Waiting",children:R(s.waiting)}),n("td",{class:"num","data-label":"Backlog",children:R(s.backlog)}),n("td",{class:"num","data-la\
bel":"Dispatchers",children:R(s.dispatchers)})]},s.flowKey))}),(a.next||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:A(["targets"]),children:"First page"}),a.next&&n("a",{class:"button",href:A(["targets"],{after:a.next}),children:"Next page"})]})]})]})})})]})}function Is({id:e}){let t=T.value,r=d=>d.timerId===e,a=B(`timer/${t}/${e}`,2e3,d=>N("timers/get",{namespace:t,id:e},d),!1,r),s=B(`history/${t}/${e}`,3e3,d=>N("t\
imers/history",{namespace:t,id:e,limit:200},d),!1,r),[o,i]=h(null),c=a.data,l=()=>{a.again(),s.again()},u=c&&ie("write",t)&&n(w,{children:[c.status==="dead"||c.
status==="parked"||c.status==="done"?n(S,{kind:"primary",onClick:()=>{i("retry")},children:"Retry\u2026"}):n(w,{children:[c.status!=="paused"&&n(S,{kind:"primar\
y",onClick:()=>{i("run")},children:"Run now\u2026"}),c.status==="paused"?n(S,{onClick:()=>{i("resume")},children:"Resume\u2026"}):n(S,{onClick:()=>{i("pause")},
children:"Pause\u2026"})]}),c.status!=="dead"&&c.status!=="done"&&n(w,{children:[n(S,{onClick:()=>{i("update")},children:"Update\u2026"}),n(S,{kind:"danger-ghos\
t",onClick:()=>{i("delete")},children:"Delete\u2026"})]})]});return n(z,{title:e,crumb:n(w,{children:[n("a",{href:A(["timers"]),children:"Timers"})," / ",t]}),actions:u,
children:[n(j,{of:a,children:d=>n("div",{class:"grid",children:[n(sc,{of:d}),n(oc,{of:d}),n(E,{title:"Attempts",wide:!0,children:n(j,{of:s,children:({attempts:f})=>n(
ic,{attempts:f,of:d})})})]})}),a.error?.status===404&&n(M,{title:"This timer does not exist, or its history has expired.",children:n("a",{href:A(["timers"]),children:[
"All timers of ",t]})}),c&&o&&n(cc,{of:c,action:o,close:()=>{i(null)},after:l})]})}function sc({of:e}){let t=e.retryPolicy,r=e.status==="done"||e.status==="dead";
return n(E,{title:"State",aside:n(Ne,{status:e.status}),children:[e.lastError&&n("div",{class:"callout bad",children:[n("strong",{children:e.lastStatusCode?`HTT\
P ${e.lastStatusCode}`:"Last error"})," ",e.lastError]}),n(un,{of:e.pause}),n(Pe,{of:[["Due",r?void 0:n(D,{at:e.dueAt})],["Execute at",n(D,{at:e.executeAt})],["\
Local time",e.executeAtLocal&&`${e.executeAtLocal.replace("T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&n(D,{at:e.executedAt})],["Attempts",`${e.attempts}\
 of ${t.maxAttempts}`],["Retry",`from ${Q(t.initialInterval)}, \xD7 ${JSON.stringify(t.backoffMultiplier)}, to ${Q(t.maxInterval)}`+(t.maxAttemptsDuration&&t.maxAttemptsDuration!==
"0s"?`, for ${Q(t.maxAttemptsDuration)}`:"")],["Window",e.window],["Expires",e.expiresAt&&n(D,{at:e.expiresAt})],["Flow key",e.flowKey&&n("code",{children:e.flowKey})],
["On done",e.onDone&&n("code",{children:e.onDone})],["On dead",e.onDead&&n("code",{children:e.onDead})],["Correlation id",n("a",{href:A(["timers"],{correlationId:e.
correlationId}),children:n("code",{children:e.correlationId})})],["Created",n(D,{at:e.createdAt})],["Updated",n(D,{at:e.updatedAt})],["Generation",n("code",{children:e.
generation})],["UUID",n("code",{children:e.uuid})]]})]})}function oc({of:e}){let t=!ye.hidePayloads,r=n("p",{class:"muted",children:"Hidden by the settings of t\
he server."});return n(E,{title:"Request",children:[n(Pe,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&
n("span",{class:"url",children:[n("code",{children:e.callbackUrl})," ",n(Qn,{text:e.callbackUrl})]})],["Topic",e.topic&&n("code",{children:e.topic})],["Key",e.key&&
n("code",{children:e.key})],["Timeout",Q(e.callbackTimeout)],["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&n(w,{children:[
n("h3",{children:"Headers"}),t?n(Pe,{of:Object.entries(e.headers).map(([a,s])=>[a,n("code",{children:s})])}):r]}),n("h3",{children:"Payload"}),t?e.payload!==void 0?
n(lt,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?n(lt,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?n(lt,{value:e.request.
bodyBase64,label:"Body, base64"}):n("p",{class:"muted",children:e.status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}
var Ls={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"dead",expired:"parked"};function ic({attempts:e,of:t}){if(e.length===0)return n(M,{title:"No\
 attempt has ended yet.",children:t.status==="scheduled"&&n(w,{children:["The first one begins ",n(D,{at:t.dueAt}),"."]})});let r=o=>Date.parse(o.finishedAt)-Date.
parse(o.startedAt),a=Math.max(1,...e.map(r)),s=(o,i)=>{let c=e[i+1];return Date.parse(o.startedAt)-Date.parse(c?.generation===o.generation&&c.nextAt?c.nextAt:o.
executeAt)};return n("ol",{class:"timeline",children:e.map((o,i)=>n("li",{class:Ls[o.outcome],children:[n("div",{class:"timeline-head",children:[n(se,{kind:Ls[o.
outcome],children:o.outcome}),n("strong",{children:["Attempt ",o.attempt]}),n(D,{at:o.startedAt}),n("span",{class:"muted",children:[He(Math.max(0,s(o,i)))," lat\
e"]})]}),n("div",{class:"timeline-body",children:[n("span",{children:[t.callbackUrl?n(w,{children:[n("code",{children:t.request?.method??"POST"})," \u2192 "]}):
"published \u2192 ",o.statusCode?n("strong",{children:["HTTP ",o.statusCode]}):o.error?"no answer":"accepted"]}),n("span",{class:"meter","aria-hidden":"true",children:n(
"span",{style:{width:`${Math.max(1,r(o)/a*100)}%`}})}),n("span",{class:"num",children:He(r(o))})]}),o.error&&n("p",{class:"timeline-error",children:o.error}),o.
nextAt&&n("p",{class:"muted",children:["Next attempt: ",n(D,{at:o.nextAt})]})]},o.generation+o.attempt+o.startedAt))})}function cc({of:e,action:t,close:r,after:a}){
let[s]=h(e),[o,i]=h(""),[c,l]=h("deliver"),[u,d]=h(""),f={namespace:s.namespace,id:s.id,ifGeneration:s.generation},m={close:r,after:a};switch(t){case"run":return n(
pe,{...m,title:`Run ${s.id} now`,verb:"Run now",path:"timers/run-now",body:()=>f,done:`${s.id} runs now.`,children:n("p",{children:"The timer becomes due at onc\
e, as a new run of attempts."})});case"pause":return n(pe,{...m,title:`Pause ${s.id}`,verb:"Pause",path:"timers/pause",body:()=>({...f,note:o||void 0}),done:`${s.
id} is paused.`,children:[n("p",{children:"A paused timer is not delivered until it is resumed."}),n($,{label:"Note",value:o,set:i,hint:"Why it is paused; shown\
 to everyone who may read it."})]});case"resume":return n(pe,{...m,title:`Resume ${s.id}`,verb:"Resume",path:"timers/resume",body:()=>({...f,overdue:c}),done:`${s.
id} is resumed.`,children:n(le,{label:"If its time has passed",value:c,set:l,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"retry":return n(
pe,{...m,title:`Retry ${s.id}`,verb:"Retry",path:"timers/retry",body:()=>({...f,executeIn:u||void 0}),done:`${s.id} is scheduled again.`,children:[n("p",{children:[
"The timer starts again at attempt 1",s.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),n($,{label:"Delay",value:u,
set:d,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return n(pe,{...m,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"timers/d\
elete",body:()=>f,done:`${s.id} is deleted.`,after:()=>{ue(["timers"])},children:n("p",{children:"It is not delivered any more."})});default:return n(uc,{of:s,...m})}}
function uc({of:e,close:t,after:r}){let a={at:je(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?"":JSON.stringify(e.payload,null,2)},[s,o]=h(a.at),
[i,c]=h(a.url),[l,u]=h(a.payload),d=()=>{let f={};if(s!==a.at){let m=he(s);if(!m)return"Enter the time completely.";f.executeAt=m}if(i!==a.url&&(f.callbackUrl=i||
null),l!==a.payload){let{value:m,error:p}=At(l);if(p)return p;f.payload=m??null}return Object.keys(f).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.
id,ifGeneration:e.generation,...f}};return n(pe,{title:`Update ${e.id}`,verb:"Save",path:"timers/update",body:d,done:`${e.id} is updated.`,close:t,after:r,children:[
n($,{label:`Time (${Re()})`,type:"datetime-local",step:"1",value:s,set:o}),n($,{label:"Callback URL",value:i,set:c,mono:!0}),ye.hidePayloads?n("p",{class:"muted",
children:"Payloads are hidden by the settings of the server."}):n(Ot,{label:"Payload (JSON)",value:l,set:u,rows:8}),n("p",{class:"hint",children:"Only changed f\
ields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var kr=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function lc(){let[e="overview",t,r]=re.value.path,a=`${e}/${T.value}/${t??""}`;if(!xe.value&&(e==="overview"||e==="targe\
ts"||Cn.value))return n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return n(Ra,{},a);case"\
timers":return t===void 0?n($a,{},a):n(Is,{id:t},a);case"dead":return n(La,{},a);case"schedules":return t===void 0?n(Ua,{},a):n(Ba,{id:t},a);case"namespaces":return t===
void 0?n(Ka,{}):n(Va,{name:t},t);case"targets":return n(Ds,{},a);case"shards":return n(Ns,{},a);case"new":return t==="schedule"?n(za,{},a):n(Wa,{},a+(r??""));default:
return n(z,{title:"Not found",children:n(M,{title:"There is no such page.",children:n("a",{href:A(["overview"]),children:"Overview"})})})}}function dc({reason:e}){
let[t,r]=h(""),[a,s]=h(),[o,i]=h(!1);Y(()=>{document.title="Sign in \xB7 Timerbus";let u=d=>{d.persisted&&i(!1)};return addEventListener("pageshow",u),()=>{removeEventListener(
"pageshow",u)}},[]);let c=async()=>{It.value="",i(!0),s(void 0);try{await Es()}catch(u){s(new fe(0,"SIGN_IN_FAILED",u.message)),i(!1)}},l=async()=>{let u=$e.value;
It.value="",i(!0),s(void 0),it(t.trim());try{await Rt()}catch(d){it(u),s(ne(d))}i(!1)};return n("main",{class:"sign-in",children:n("form",{class:"card",onSubmit:u=>{
u.preventDefault(),l()},children:[n("h1",{children:[n(xr,{})," Timerbus"]}),Fe&&n(w,{children:[n("button",{type:"button",class:"button primary block",disabled:o,
onClick:()=>{c()},children:["Sign in with ",Fe]}),It.value&&!a&&n("div",{class:"error",role:"alert",children:n("p",{children:It.value})})]}),n("p",{children:[Fe?
"Or use":"Sign in with"," the token of the service, the token of an API key, or a token of the identity provider."]}),a?n(de,{error:a}):$e.value&&n("div",{class:"\
error",role:"alert",children:n("p",{children:e})}),n("div",{class:"field",children:[n("label",{for:"token",children:"Token"}),n("input",{id:"token",type:"passwo\
rd",value:t,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:u=>{r(u.currentTarget.value)}}),n("p",{class:"hint",id:"token-hint",children:[
"It stays in this tab until the tab is closed. Create a key for reading with",n("code",{children:" timerbus key create ui --grant read@*"}),"."]})]}),n("button",
{type:"submit",class:`button block${Fe?"":" primary"}`,disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var xr=()=>n("svg",{class:"mark",viewBox:"0 0 32 \
32","aria-hidden":"true",children:[n("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),n("circle",{cx:"16",cy:"16",r:"9",class:"mark-line"}),n("path",{d:"\
M16 10.5V16l4 2.6",class:"mark-line"})]});function pc({close:e}){return n(Qe,{title:"Keyboard",close:e,children:[n("dl",{class:"facts keys",children:[kr.map(([,
t,r])=>n("div",{children:[n("dt",{children:[n("kbd",{children:"g"})," ",n("kbd",{children:r})]}),n("dd",{children:t})]},r)),n("div",{children:[n("dt",{children:n(
"kbd",{children:"c"})}),n("dd",{children:"Create a timer"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"/"})}),n("dd",{children:"Search or filter"})]}),
n("div",{children:[n("dt",{children:n("kbd",{children:"l"})}),n("dd",{children:"Live updates on or off"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"\
?"})}),n("dd",{children:"This list"})]})]}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:an.value==="on",onChange:t=>{an.value=t.currentTarget.
checked?"on":"off"}}),"Use these keys"]})]})}var wr=0;function fc(e){Y(()=>{let t=r=>{let a=r.target;if(r.ctrlKey||r.metaKey||r.altKey||a.closest("input, textar\
ea, select, [contenteditable]")||document.querySelector("dialog[open]"))return;if(r.key==="?"){e();return}if(an.value==="off")return;let s=Date.now()-wr<1500;if(wr=
0,s){let o=kr.find(([,,i])=>i===r.key);o&&ue([o[0]])}else if(r.key==="g")wr=Date.now();else if(r.key==="c")ue(["new","timer"]);else if(r.key==="l")Se.value=Se.value===
"on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener("keydown",t),()=>{
removeEventListener("keydown",t)}},[])}function mc(){let[e,t]=h(!1),r={no:"Live updates by polling",some:"Live updates by events of one process, and by polling",
all:"Live updates by events"},[a,s]=h(!1);fc(()=>{s(!0)}),Y(()=>{let u=new AbortController;return xe.value&&nn(u.signal).catch(()=>{}),()=>{u.abort()}},[xe.value?.
name]);let[o="overview"]=re.value.path;Y(()=>{t(!1)},[re.value]);let i=[...new Set([T.value,...tn.value.map(u=>u.name)])].sort(),c=u=>{re.value.path.length>1&&o!==
"new"?ue([o],{ns:u}):_e({ns:u})};return n(w,{children:[n("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#main h1")?.focus()},children:"\
Skip to the content"}),n("header",{children:[n(S,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{t(!e)},children:"\u2630"}),
n("a",{class:"brand","aria-label":"Timerbus, overview",href:A(["overview"]),children:[n(xr,{}),n("span",{children:"Timerbus"})]}),n("label",{class:"sr",for:"ns",
children:"Namespace"}),n("select",{id:"ns",class:"namespace",value:T.value,onChange:u=>{c(u.currentTarget.value)},children:i.map(u=>n("option",{value:u,selected:u===
T.value,children:u},u))}),n("div",{class:"spacer"}),ye.readOnly&&n("span",{class:"badge paused",children:"read-only"}),n("div",{class:`prefs${e?" open":""}`,children:[
n("label",{class:"sr",for:"zone",children:"Time zone"}),n("select",{id:"zone",value:ke.value,onChange:u=>{ke.value=u.currentTarget.value},children:[n("option",{
value:"local",selected:ke.value==="local",children:"Local time"}),n("option",{value:"utc",selected:ke.value==="utc",children:"UTC"}),n("option",{value:"schedule",
selected:ke.value==="schedule",children:["Schedule",Oe.value?` (${Oe.value})`:"\u2019s zone"]})]}),n(S,{kind:"ghost live","aria-pressed":Se.value==="on",title:r[De.
value],onClick:()=>{Se.value=Se.value==="on"?"off":"on"},children:[n("span",{class:"dot"}),"Live"]}),n("label",{class:"sr",for:"theme",children:"Colours"}),n("s\
elect",{id:"theme",value:Me.value,onChange:u=>{Me.value=u.currentTarget.value},children:[n("option",{value:"auto",selected:Me.value==="auto",children:"Auto"}),n(
"option",{value:"light",selected:Me.value==="light",children:"Light"}),n("option",{value:"dark",selected:Me.value==="dark",children:"Dark"})]})]})]}),n("div",{class:"\
frame",children:[n("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[n("ul",{children:kr.map(([u,d])=>n("li",{children:n("a",{href:A([u]),"aria-c\
urrent":o===u?"page":void 0,children:d})},u))}),n("div",{class:"nav-foot",children:[n("div",{children:xe.value?.name==="anyone"?"no credential required":xe.value?.
name}),$e.value&&n(S,{kind:"small",onClick:()=>{it(""),xe.value=null,tn.value=[],Ue.value=""},children:"Sign out"}),n(S,{kind:"small",onClick:()=>{s(!0)},children:"\
Keyboard"}),n("div",{class:"version",children:[ye.version," \xB7 ",n("a",{href:"licenses.txt",children:"licences"})]})]})]}),n("main",{id:"main",children:n(lc,{})})]}),
n("div",{class:"notices",role:"status","aria-live":"polite",children:ut.value.map(u=>n("div",{class:`notice ${u.kind}`,children:[u.text,n(S,{kind:"icon","aria-l\
abel":"Dismiss",onClick:()=>{Zn(u.id)},children:"\u2715"})]},u.id))}),a&&n(pc,{close:()=>{s(!1)}})]})}var It=W(""),Cn=W($s()),hc=Cn.value?Os().catch(e=>{It.value=
e.message}).then(()=>(Cn.value=!1,Rt())):Rt();function gc(){let[e,t]=h(),r=(a=Rt())=>{t(void 0),a.catch(s=>{let o=ne(s);o.status!==401&&t(o)})};return qt(()=>{r(
hc)},[]),Ue.value!==null?n(dc,{reason:Ue.value}):e?n("main",{class:"sign-in",children:n("div",{class:"card",children:[n("h1",{children:[n(xr,{})," Timerbus"]}),
n(de,{error:e,again:()=>{r()}})]})}):n(mc,{})}var Us=()=>{Ur(n(gc,{}),document.getElementById("app"))},[yc,_c]=re.value.path;yc==="timers"&&_c===void 0&&!Cn.value?
oa("timers/list",Ea(),Us):Us();
